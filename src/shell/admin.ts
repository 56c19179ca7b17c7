import { pagePath } from '../core/pages/page-table.ts'
import { localizedPath } from '../i18n/index.ts'
import { $lastLoadedCompany, loadCompanyForBanner } from '../stores/admin/companies.ts'
import { navigate } from '../stores/navigation.ts'
import { $route } from '../stores/routes.ts'
import { $user } from '../stores/signed-in-user.ts'
import { onThisAndLaterPages, pageLocale } from './kit/page.ts'

/**
 * Id of the last company whose name was requested from the API. Prevents a second call for the same
 * name.
 */
let asked: string | undefined

/**
 * Completes the administration pages, whose HTML is the same for all companies. Adds the id of the
 * company in the address to their links, shows a banner if an operator acts in another company, and
 * redirects administrators who are not operators from `/admin` to their own company.
 */
export function startAdminPages(): void {
  onThisAndLaterPages(() => {
    addCompany()
    showCurrentTab()
    openOwnCompany()
    showActing()
  })
  $user.listen(() => {
    openOwnCompany()
    showActing()
  })
  $lastLoadedCompany.listen(showActing)
}

function addCompany(): void {
  const company = $route.get()?.params['company']
  if (company === undefined) return
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-page]')) {
    // as: written by the layout; these pages have no parameter besides the company
    const name = link.dataset['page'] as 'company' | 'groups'
    link.href = localizedPath(pageLocale(), pagePath(name, { company }))
  }
}

/**
 * Scrolls the row of tabs to the current tab, and later to each tab that gets the focus, because
 * the row may be wider than the screen.
 */
function showCurrentTab(): void {
  const tabs = document.querySelector<HTMLElement>('.section-tabs')
  tabs?.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element) target.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })
  const current = tabs?.querySelector<HTMLElement>('[aria-current]')?.parentElement
  if (!tabs || !current) return
  tabs.scrollLeft = current.offsetLeft - (tabs.clientWidth - current.offsetWidth) / 2
}

function openOwnCompany(): void {
  const user = $user.get()
  // the guard leads people without a permission elsewhere
  if (!user?.permissions.includes('admin') || user.permissions.includes('operator')) return
  if (!document.querySelector('[data-admin-home]')) return
  const path = pagePath('company', { company: user.company.id })
  void navigate(localizedPath(pageLocale(), path), { replace: true })
}

/**
 * Shows operators a banner if the page administers a company other than their own. Also shows them
 * the links that only operators use, and the name of the company in the breadcrumb.
 */
function showActing(): void {
  const isOperator = $user.get()?.permissions.includes('operator') === true
  for (const link of document.querySelectorAll<HTMLElement>('[data-operator]'))
    link.hidden = !isOperator
  const banner = document.querySelector<HTMLElement>('[data-acting]')
  const words = banner?.querySelector<HTMLElement>('[data-named]')
  if (!banner || !words) return
  const own = $user.get()?.company
  const company = $route.get()?.params['company']
  if (isOperator && company === own?.id) showInPath(own?.name)
  const isOther = isOperator && company !== undefined && company !== own?.id
  banner.hidden = !isOther
  if (!isOther) return
  const seen = $lastLoadedCompany.get()
  if (seen?.id === company) {
    showInPath(seen.name)
    words.textContent = (words.dataset['named'] ?? '').replace('{{company}}', () => seen.name)
  } else if (asked !== company) {
    asked = company
    void loadCompanyForBanner(company)
  }
}

/**
 * Shows the name of the company in the breadcrumb. Called for operators only, because only they see
 * several companies.
 */
function showInPath(name: string | undefined): void {
  const link = document.querySelector('.breadcrumb [data-page="company"]')
  if (link && name !== undefined) link.textContent = name
}
