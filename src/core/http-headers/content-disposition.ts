// what would break the header, path separators, and controls of the writing direction, which can
// disguise the extension
const unfit = /[\p{Cc}\p{Zl}\p{Zp}"\\/\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** RFC 6266: `'été.pdf'` → `attachment; filename="_t_.pdf"; filename*=UTF-8''%C3%A9t%C3%A9.pdf` */
export function attachmentHeader(name: string): string {
  const clean = name.toWellFormed().replace(unfit, '_')
  const ascii = clean.replace(/[^\x20-\x7e]/g, '_').replace(/[%']/g, '_')
  const encoded = encodeURIComponent(clean).replace(
    /['()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

/** Returns the name in a header of `attachmentHeader`. */
export function attachmentName(header: string): string | undefined {
  const encoded = /; filename\*=UTF-8''((?:[^%;\s]|%[0-9A-F]{2})+)$/.exec(header)?.[1]
  return encoded === undefined ? undefined : decodeURIComponent(encoded)
}
