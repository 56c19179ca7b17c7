import { resolveNavigation } from '../core/pages/navigation.ts'
import { environment } from './environment.ts'

interface NavigationOptions {
  /** Replaces the present page in the browser's history. */
  replace?: boolean
  /** Allows an address of another site, which is refused otherwise. */
  external?: boolean
}

/** Opens a page without ending what runs on this one, such as uploads. All scripts leave a page by it. */
export async function navigate(
  to: string,
  { replace = false, external = false }: NavigationOptions = {}
): Promise<void> {
  const { place, openPage, openSite } = environment()
  const { protocol, host, pathname, search } = place()
  const { kind, href } = resolveNavigation(to, `${protocol}//${host}${pathname}${search}`, {
    external
  })
  if (kind === 'away') openSite(href)
  else await openPage(href, replace)
}
