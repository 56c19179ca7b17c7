/** Returns whether the header `If-None-Match` is `*` or contains the ETag, strong or weak. */
export function includesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  return (
    ifNoneMatch?.split(',').some(tag => tag.trim() === '*' || weak(tag) === weak(etag)) ?? false
  )
}
