import { wayTo } from '../core/pages/navigation.ts'
import { environment } from './environment.ts'

interface NavigationOptions {
  /** Leaves no entry for the present page behind. */
  replace?: boolean
  /** Allows another site; without it such an address is refused. */
  external?: boolean
}

/** Goes to a page; what runs on this one, uploads above all, goes on. The only way to leave a page. */
export async function navigate(
  to: string,
  { replace = false, external = false }: NavigationOptions = {}
): Promise<void> {
  const { place, openPage, openSite } = environment()
  const { protocol, host, pathname, search } = place()
  const { kind, href } = wayTo(to, `${protocol}//${host}${pathname}${search}`, { external })
  if (kind === 'away') openSite(href)
  else await openPage(href, replace)
}
