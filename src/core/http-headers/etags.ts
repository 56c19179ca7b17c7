/**
 * Returns whether the header `If-None-Match` is `*` or contains the given ETag. A weak ETag
 * (`W/"a"`) counts as equal to the strong one (`"a"`).
 */
export function includesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  return (
    ifNoneMatch?.split(',').some(tag => tag.trim() === '*' || weak(tag) === weak(etag)) ?? false
  )
}
