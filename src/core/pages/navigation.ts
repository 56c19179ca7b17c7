/** Where a navigation leads: to a page of this origin, or away from it. */
export type Way = { kind: 'page' | 'away'; href: string }

/**
 * Resolves `to` against the address of the present page. Another origin is refused unless the caller
 * says that it means to leave (`external`), and an address that runs as a script always.
 */
export function wayTo(to: string, from: string, { external = false } = {}): Way {
  const url = new URL(to, from)
  if (url.origin === new URL(from).origin) return { kind: 'page', href: url.href }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`A page cannot lead to an address of the kind ${url.protocol}`)
  }
  if (!external) throw new Error(`${url.origin} is another site: pass external: true to leave`)
  return { kind: 'away', href: url.href }
}
