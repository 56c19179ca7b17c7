import { pagePath } from '../core/pages/page-table.ts'
import { localizedPath } from '../i18n/index.ts'
import { $lastLoadedCompany, loadCompanyForBanner } from '../stores/admin/companies.ts'
import { navigate } from '../stores/navigation.ts'
import { $route } from '../stores/routes.ts'
import { $user } from '../stores/signed-in-user.ts'
import { onThisAndLaterPages, pageLocale } from './kit/page.ts'

// the company whose name was requested last, so that it is requested once
let asked: string | undefined

/**
 * The HTML of these pages is the same for all companies. Adds the company's id to their links, and
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

// the row of tabs may be wider than the screen
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

// for operators only, because only they see several companies
function showInPath(name: string | undefined): void {
  const link = document.querySelector('.breadcrumb [data-page="company"]')
  if (link && name !== undefined) link.textContent = name
}
