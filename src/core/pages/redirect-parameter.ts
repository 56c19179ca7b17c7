/** `query` begins with `?` and `hash` with `#`, unless empty. */
export type RedirectTarget = { path: string; query: string; hash: string }

const maxBytes = 2_048
// Three parts with at most six characters a byte (\u0000), and punctuation.
const maxTextLength = 40_000

/**
 * `{"path":"/en/me","query":"","hash":""}`, or an empty text for a part that is over 2,048 bytes or
 * has backslashes or control characters.
 */
export function buildRedirectParameter({ path, query, hash }: RedirectTarget): string {
  const parts = { path, query, hash }
  return isPath(path) && isPlain(query) && isPlain(hash) ? JSON.stringify(parts) : ''
}

/** `/en/sign-in?a=1#b` → `/en/sign-in?a=1&redirect=…#b` */
export function withRedirect(address: string, returnTo: RedirectTarget): string {
  const [, path = '', query = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(address) ?? []
  const parameters = new URLSearchParams(query)
  const redirect = buildRedirectParameter(returnTo)
  if (redirect) parameters.set('redirect', redirect)
  return `${path}${parameters.size > 0 ? '?' : ''}${parameters}${hash}`
}

/** Returns undefined for another origin and for paths that `isAllowed` refuses. */
export function parseRedirectParameter(
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

// Browsers read a backslash as a slash and ignore tabs and line breaks in an address.
function isPlain(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    !/[\\\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(value) &&
    new TextEncoder().encode(value).length <= maxBytes
  )
}
