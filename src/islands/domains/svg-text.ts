/**
 * Decodes an SVG file as browsers do: by its byte order mark, or else by the encoding that it
 * declares, or else as UTF-8. Returns undefined if the bytes are no text in this encoding.
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
