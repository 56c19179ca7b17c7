import { browserEnvironment } from './environment.ts'

type LinkDestination = { kind: 'page' | 'away'; href: string }

interface NavigationOptions {
  replace?: boolean
  /** Allows the address of another site. Without it, `navigate` throws for such an address. */
  external?: boolean
}

/**
 * Opens a page. A page of this site opens without loading a new document, so uploads and other work
 * continue. All scripts use this function to open a page.
 */
export async function navigate(
  to: string,
  { replace = false, external = false }: NavigationOptions = {}
): Promise<void> {
  const { pageLocation, openPage, openSite } = browserEnvironment()
  const { protocol, host, pathname, search } = pageLocation()
  const { kind, href } = resolveLink(to, `${protocol}//${host}${pathname}${search}`, {
    external
  })
  if (kind === 'away') openSite(href)
  else await openPage(href, replace)
}

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
