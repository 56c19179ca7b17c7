import { defaultLocale, isLocale, type Locale, localizedPath, translator } from '../i18n/index.ts'
import { dropOtherDrafts } from '../stores/form-drafts.ts'
import { buildOf, onClick, onEachPage, pageWords } from './kit/page.ts'
import { toast } from './kit/toasts.ts'

/**
 * Makes the language links change the language of the present page. Without this module they open
 * the home page in the other language.
 */
export function startLanguages(): void {
  onEachPage(() => dropOtherDrafts(localizedPath(defaultLocale, location.pathname)))
  onClick('a[data-locale]', (link, event) => {
    const { locale } = link.dataset
    if (!isLocale(locale) || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    void change(locale)
  })
}

async function change(locale: Locale): Promise<void> {
  const [{ changeLanguage }, { navigate }] = await Promise.all([
    import('../stores/languages.ts'),
    import('../stores/navigation.ts')
  ])
  const buildId = buildOf(document)?.split(' ')[0] ?? ''
  try {
    const { address, words, isSaved } = await changeLanguage(locale, { buildId, save: saveFor })
    // unfinished forms keep their values
    document.dispatchEvent(new Event('vidimus:language'))
    await navigate(address)
    // shows the message in the language of the new page
    if (!isSaved) toast(translator(locale, words)('shell.languageUnsaved'))
  } catch {
    toast(pageWords()('shell.languageLost'))
  }
}

async function saveFor(locale: Locale): Promise<void> {
  if (document.documentElement.dataset['session'] !== 'in') return
  const { saveLanguage } = await import('../stores/users.ts')
  await saveLanguage(locale)
}
