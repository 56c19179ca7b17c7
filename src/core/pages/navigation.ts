export type LinkDestination = { kind: 'page' | 'away'; href: string }

/** Throws for an address outside this site, unless `external` allows http and https. */
export function resolveLink(to: string, from: string, { external = false } = {}): LinkDestination {
  const url = new URL(to, from)
  if (url.origin === new URL(from).origin) return { kind: 'page', href: url.href }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`A page cannot lead to an address of the kind ${url.protocol}`)
  }
  if (!external) throw new Error(`${url.origin} is another site: pass external: true to leave`)
  return { kind: 'away', href: url.href }
}
