/** Where a person was, as the `redirect` parameter carries it: `query` with its `?`, `hash` with its `#`, or empty. */
export type RedirectTarget = { path: string; query: string; hash: string }

const maxBytes = 2_048
// Three parts, each at most six characters a byte (\u0000), and the punctuation between them.
const maxTextLength = 40_000

/** The value of the `redirect` parameter, empty when the place cannot be returned to. */
export function buildRedirect({ path, query, hash }: RedirectTarget): string {
  const parts = { path, query, hash }
  return isPath(path) && isPlain(query) && isPlain(hash) ? JSON.stringify(parts) : ''
}

/**
 * Leads to `target` first and then back to `place`: `/en/sign-in?a=1#b` → `/en/sign-in?a=1&redirect=…#b`.
 * What the target's own query and hash say stays.
 */
export function withRedirect(target: string, place: RedirectTarget): string {
  const [, path = '', query = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(target) ?? []
  const parameters = new URLSearchParams(query)
  const redirect = buildRedirect(place)
  if (redirect) parameters.set('redirect', redirect)
  return `${path}${parameters.size > 0 ? '?' : ''}${parameters}${hash}`
}

/**
 * The address a `redirect` parameter leads to, if that is a page of this origin that may be led to.
 * Go to the whole result: `/..//evil.example` keeps the origin, but its path alone is another host.
 */
export function parseRedirect(
  text: string,
  origin: string,
  isAllowed: (path: string) => boolean
): string | undefined {
  const target = readTarget(text)
  if (!target) return undefined
  const url = new URL(target.path, origin)
  if (url.origin !== origin || url.pathname.startsWith('//')) return undefined
  url.search = target.query
  url.hash = target.hash
  return isAllowed(url.pathname) ? url.href : undefined
}

function readTarget(text: string): RedirectTarget | undefined {
  if (text.length > maxTextLength) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || !('path' in value)) return undefined
  const { path } = value
  const query = 'query' in value ? value.query : ''
  const hash = 'hash' in value ? value.hash : ''
  return isPath(path) && isPlain(query) && isPlain(hash) ? { path, query, hash } : undefined
}

function isPath(value: unknown): value is string {
  return isPlain(value) && /^\/(?!\/)/.test(value)
}

// Browsers read a backslash as a slash and drop tabs and line breaks before they look at an address.
function isPlain(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    !/[\\\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(value) &&
    new TextEncoder().encode(value).length <= maxBytes
  )
}
