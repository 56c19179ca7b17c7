import { isLocale, type Locale, translator } from '../i18n/index.ts'
import { deleteDraftsOfOtherPages, pagePathInDefaultLocale } from '../stores/form-drafts.ts'
import { isSignedIn, onClick, onEachPage, pageVersion, shellTranslator } from './kit/page.ts'

/**
 * Makes the language links open the current page in another language and keep its query, its
 * fragment and the values of its unfinished forms. Without this module, the links lose all of
 * these, and open the home page if the path of the page has parameters.
 */
export function startLanguageLinks(): void {
  onEachPage(() => deleteDraftsOfOtherPages(pagePathInDefaultLocale()))
  onClick('a[data-locale]', (link, event) => {
    const { locale } = link.dataset
    if (!isLocale(locale) || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    void change(locale)
  })
}

async function change(locale: Locale): Promise<void> {
  const [{ changeLanguage }, { storeFormDraft }, { navigate }] = await Promise.all([
    import('../stores/languages.ts'),
    import('../stores/form-values.ts'),
    import('../stores/navigation.ts')
  ])
  /**
   * Stores the values of all forms of the page, including forms whose scripts have not run yet. The
   * event lets scripts store further unsaved input.
   */
  const keep = () => {
    for (const form of document.forms) storeFormDraft(pagePathInDefaultLocale(), form)
    document.dispatchEvent(new Event('vidimus:language'))
  }
  const buildId = pageVersion(document)?.split(' ')[0] ?? ''
  try {
    const { address, words, isSaved } = await changeLanguage(locale, { buildId, save: saveFor })
    // at the last moment, because the person may go on typing until then
    document.addEventListener('astro:before-swap', keep, { once: true })
    await navigate(address)
    // shows the message in the language of the new page
    if (!isSaved) await say(translator(locale, words)('shell.languageUnsaved'))
  } catch {
    await say(shellTranslator()('shell.languageLost'))
  } finally {
    document.removeEventListener('astro:before-swap', keep)
  }
}

async function say(text: string): Promise<void> {
  // most visits show no message; the deferred parts have loaded this code by now
  const { showToast } = await import('./kit/toasts.ts')
  showToast(text)
}

async function saveFor(locale: Locale): Promise<void> {
  if (!isSignedIn()) return
  const { saveLanguageToAccount } = await import('../stores/signed-in-user.ts')
  await saveLanguageToAccount(locale)
}
