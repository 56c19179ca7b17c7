import { pathOf } from '../core/pages/page-table.ts'
import { localizedPath } from '../i18n/index.ts'
import { navigate } from '../stores/navigation.ts'
import { $route } from '../stores/routes.ts'
import { $user } from '../stores/users.ts'
import { onThisPageAndNext, pageLocale } from './kit/page.ts'

const slowMs = 8000

/**
 * Completes the pages of the administration, whose HTML is the same for all companies. Adds the
 * company in the address to their links. Redirects `/admin` to the person's own company.
 */
export function startAdminPages(): void {
  onThisPageAndNext(() => {
    addCompany()
    openOwnCompany()
    setTimeout(
      () => document.querySelector('[data-admin-home] [data-slow]')?.removeAttribute('hidden'),
      slowMs
    )
  })
  $user.listen(openOwnCompany)
}

function addCompany(): void {
  const company = $route.get()?.params['company']
  if (company === undefined) return
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-page]')) {
    const name = link.dataset['page'] as 'company' | 'groups' // as: written by the layout
    link.href = localizedPath(pageLocale(), pathOf(name, { company }))
  }
}

function openOwnCompany(): void {
  const user = $user.get()
  if (!user || !document.querySelector('[data-admin-home]')) return
  const path = pathOf('company', { company: user.company.id })
  void navigate(localizedPath(pageLocale(), path), { replace: true })
}
