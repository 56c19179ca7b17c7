import { resolveLink } from '../core/pages/navigation.ts'
import { browserEnvironment } from './environment.ts'

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
