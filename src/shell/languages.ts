import { navigate } from 'astro:transitions/client'
import { isLocale, type Locale } from '../i18n/index.ts'
import { onClick } from './page.ts'

/** Without this module the links still lead to the other language's home page. */
export function startLanguages(): void {
  onClick('a[data-locale]', (link, event) => {
    const { locale } = link.dataset
    if (!isLocale(locale) || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    void change(locale)
  })
}

async function change(locale: Locale): Promise<void> {
  const { changeLanguage } = await import('../stores/locale.ts')
  await navigate(await changeLanguage(locale, saveFor))
}

async function saveFor(locale: Locale): Promise<void> {
  if (document.documentElement.dataset['session'] !== 'in') return
  const { changeLocale } = await import('../stores/users.ts')
  await changeLocale(locale)
}
