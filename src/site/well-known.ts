import { contactLink } from '../core/pages/contact-link.ts'

interface WellKnownResponse {
  status: 200 | 302
  headers: Record<string, string>
  body: string
}

const securityTxtDays = 180
const plainText = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' }

/** The files that programs expect on every host. Undefined for any other path. */
export function wellKnownResponse(
  path: string,
  host: { origin: string; contact: string | undefined; locale: string },
  now = new Date()
): WellKnownResponse | undefined {
  if (path === '/robots.txt') {
    // pages that must not be indexed say so in a meta element or header
    return { status: 200, headers: plainText, body: 'User-agent: *\nDisallow:\n' }
  }
  if (path === '/.well-known/change-password') {
    const headers = { location: `/${host.locale}/me`, 'cache-control': 'no-cache' }
    return { status: 302, headers, body: '' }
  }
  const contact = contactLink(host.contact)
  if (path !== '/.well-known/security.txt' || contact === undefined) return undefined
  const expires = new Date(now.getTime() + securityTxtDays * 86_400_000)
  const lines = [
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en, fr',
    `Canonical: ${host.origin}${path}`
  ]
  return { status: 200, headers: plainText, body: `${lines.join('\n')}\n` }
}

/** Tells whether the path is below `/log/` or `/logs/`, where the process with the files of logs answers. */
export function isLogPath(target: string): boolean {
  return /^\/logs?\//.test(target)
}
