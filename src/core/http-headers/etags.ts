/** A weak ETag (`W/"a"`) counts as equal to the strong one (`"a"`). */
export function includesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  return (
    ifNoneMatch?.split(',').some(tag => tag.trim() === '*' || weak(tag) === weak(etag)) ?? false
  )
}

/**
 * Returns the versions that `If-Match` names, or undefined for `*`: `'W/"7", "8-gzip"'` → `[7, 8]`.
 * A proxy that compresses weakens an ETag or appends the encoding.
 */
export function etagVersions(ifMatch: string): number[] | undefined | 'malformed' {
  if (ifMatch.trim() === '*') return undefined
  // the pattern is that of RFC 9110, section 8.8.3; a list may have empty members
  const tags = [...ifMatch.matchAll(/\s*(?:(?:W\/)?"([!\x23-\x7e\x80-\xff]*)"\s*)?(?:,|$)/gy)]
  const length = tags.reduce((sum, [text]) => sum + text.length, 0)
  const opaque = tags.flatMap(([, tag]) => tag ?? [])
  if (length !== ifMatch.length || opaque.length === 0) return 'malformed'
  return opaque.flatMap(tag => {
    const [, version] = /^(\d{1,15})(?:[-;](?:gzip|br|deflate|zstd))?$/.exec(tag) ?? []
    return version === undefined ? [] : [Number(version)]
  })
}
