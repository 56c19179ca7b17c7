/**
 * Decodes as browsers do: by the byte order mark, or the declared encoding, or as UTF-8. Returns
 * undefined for bytes that are no text.
 */
export function decodeSvg(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 200))
  const [, declared = 'utf-8'] = /^<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)["']/.exec(start) ?? []
  const marked = start.startsWith('\u00ff\u00fe') || start.startsWith('\u00fe\u00ff')
  try {
    // a declaration that could be read as single bytes is not itself in UTF-16
    const encoding = /^utf-?16/i.test(declared) ? 'utf-8' : declared
    const marks = start.startsWith('\u00fe') ? 'utf-16be' : 'utf-16le'
    return new TextDecoder(marked ? marks : encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
