/** The target of a navigation: a page of this origin, or another site. */
export type Destination = { kind: 'page' | 'away'; href: string }

/**
 * Resolves `to` against the address of the current page. Throws for another origin unless `external` is
 * set, and always for an address that is neither http nor https.
 */
export function resolveNavigation(
  to: string,
  from: string,
  { external = false } = {}
): Destination {
  const url = new URL(to, from)
  if (url.origin === new URL(from).origin) return { kind: 'page', href: url.href }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`A page cannot lead to an address of the kind ${url.protocol}`)
  }
  if (!external) throw new Error(`${url.origin} is another site: pass external: true to leave`)
  return { kind: 'away', href: url.href }
}
