import { defaultLocale, isLocale, type Locale, localizedPath, translator } from '../i18n/index.ts'
import { dropOtherDrafts } from '../stores/form-drafts.ts'
import { buildOf, onClick, onEachPage, pageWords } from './kit/page.ts'

/**
 * Makes the language links change the language of the present page. Without this module they open
 * the home page in the other language.
 */
export function startLanguages(): void {
  onEachPage(() => dropOtherDrafts(pagePath()))
  onClick('a[data-locale]', (link, event) => {
    const { locale } = link.dataset
    if (!isLocale(locale) || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    void change(locale)
  })
}

async function change(locale: Locale): Promise<void> {
  const [{ changeLanguage }, { keepForm }, { navigate }] = await Promise.all([
    import('../stores/languages.ts'),
    import('../stores/form-values.ts'),
    import('../stores/navigation.ts')
  ])
  /** Stores the values of unfinished forms, including forms whose scripts have not run yet. */
  const keep = () => {
    for (const form of document.forms) keepForm(pagePath(), form)
    document.dispatchEvent(new Event('vidimus:language'))
  }
  const buildId = buildOf(document)?.split(' ')[0] ?? ''
  try {
    const { address, words, isSaved } = await changeLanguage(locale, { buildId, save: saveFor })
    // at the last moment, because the person may go on typing until then
    document.addEventListener('astro:before-swap', keep, { once: true })
    await navigate(address)
    // shows the message in the language of the new page
    if (!isSaved) await say(translator(locale, words)('shell.languageUnsaved'))
  } catch {
    await say(pageWords()('shell.languageLost'))
  } finally {
    document.removeEventListener('astro:before-swap', keep)
  }
}

/** Returns the path of the page without its language. */
function pagePath(): string {
  return localizedPath(defaultLocale, location.pathname)
}

async function say(text: string): Promise<void> {
  // most visits show no message; the deferred parts have loaded this code by now
  const { toast } = await import('./kit/toasts.ts')
  toast(text)
}

async function saveFor(locale: Locale): Promise<void> {
  if (document.documentElement.dataset['session'] !== 'in') return
  const { saveLanguage } = await import('../stores/users.ts')
  await saveLanguage(locale)
}
