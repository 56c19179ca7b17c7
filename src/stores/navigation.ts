import { resolveLink } from '../core/pages/navigation.ts'
import { browserEnvironment } from './environment.ts'

interface NavigationOptions {
  replace?: boolean
  /** Without it, `navigate` throws for an address of another site. */
  external?: boolean
}

// no new document, so uploads and other work continue
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
