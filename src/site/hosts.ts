import { HostName } from '../contract/domains.ts'
import { commonApiHeaders } from '../core/http-headers/csp.ts'

/** `'Docs.Acme.fr:443'` → `'docs.acme.fr'`. Undefined if the header is invalid. */
export function readHost(header: string): string | undefined {
  const match = /^([a-z0-9.-]{1,253}?)\.?(?::(\d{1,5}))?$/.exec(header.toLowerCase())
  const [, host, port = '0'] = match ?? []
  if (Number(port) > 65_535 || !HostName.safeParse(host).success) return undefined
  return host
}

export type RefusalStatus = 400 | 421 | 503

// names no host
const misdirectedAdvice = `
Nothing is served at this address. Whoever runs this service sees the addresses that are served with
  npm run vidimus -- hosts

Rien n’est servi à cette adresse. La personne qui exploite ce service voit les adresses servies avec
  npm run vidimus -- hosts
`

/** Answers a request whose host is malformed, not served, or not known just now. */
export function hostRefusal(status: RefusalStatus): {
  headers: Record<string, string>
  body: string
} {
  const words = { 400: 'Bad Request', 421: 'Misdirected Request', 503: 'Service Unavailable' }
  const advice = status === 421 ? misdirectedAdvice : ''
  return {
    headers: { ...commonApiHeaders, 'content-type': 'text/plain; charset=utf-8' },
    body: `${words[status]}\n${advice}`
  }
}
