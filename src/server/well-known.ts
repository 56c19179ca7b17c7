export interface SmallFile {
  status: 200 | 302
  headers: Record<string, string>
  body: string
}

const securityDays = 180
const text = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' }

/** The small files that programs look for on every host; `undefined` for every other path. */
export function wellKnown(
  path: string,
  host: { origin: string; contact: string | undefined; locale: string },
  now = new Date()
): SmallFile | undefined {
  if (path === '/robots.txt') {
    // what is not for search engines says so itself
    return { status: 200, headers: text, body: 'User-agent: *\nDisallow:\n' }
  }
  if (path === '/.well-known/change-password') {
    const headers = { location: `/${host.locale}/me`, 'cache-control': 'no-cache' }
    return { status: 302, headers, body: '' }
  }
  const contact = addressOf(host.contact)
  if (path !== '/.well-known/security.txt' || contact === undefined) return undefined
  const expires = new Date(now.getTime() + securityDays * 86_400_000)
  const lines = [
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en, fr',
    `Canonical: ${host.origin}${path}`
  ]
  return { status: 200, headers: text, body: `${lines.join('\n')}\n` }
}

/** `'help@acme.fr'` → `'mailto:help@acme.fr'`; `undefined` for what is no address. */
function addressOf(contact: string | undefined): string | undefined {
  if (contact === undefined || /[\s<>]/.test(contact)) return undefined
  if (/^https:\/\//.test(contact)) return URL.parse(contact)?.href
  return contact.includes('@') ? `mailto:${contact}` : undefined
}
