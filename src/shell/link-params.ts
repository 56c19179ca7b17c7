import { onClick, onEachPage } from './kit/page.ts'

const names = ['email', 'username', 'redirect']

/** On the links to sign-in and sign-up. */
export function keepInvitationParametersInLinks(): void {
  onEachPage(updateLinks)
  addEventListener('hashchange', updateLinks)
  // not in the form's own script, which may come after the click
  onClick('a[data-with-email]', addEmail)
}

function addEmail(link: HTMLElement): void {
  const field = link.closest('form')?.elements.namedItem('email')
  if (!(link instanceof HTMLAnchorElement && field instanceof HTMLInputElement)) return
  link.search = field.value && new URLSearchParams({ email: field.value }).toString()
}

function updateLinks(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-keeps-link-params]')) {
    link.setAttribute('href', withInvitationParameters(link.href, location))
  }
}

/** On a page with `?email=a%40b.fr&x=1#c`: `/en/sign-in` → `/en/sign-in?email=a%40b.fr#c` */
export function withInvitationParameters(
  href: string,
  place: Pick<Location, 'search' | 'hash'>
): string {
  const url = new URL(href)
  const present = new URLSearchParams(place.search)
  for (const name of names) {
    const value = present.get(name)
    if (value === null) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  url.hash = place.hash
  return url.pathname + url.search + url.hash
}
