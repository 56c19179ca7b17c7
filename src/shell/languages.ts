import { isLocale, type Locale, translator } from '../i18n/index.ts'
import { deleteDraftsOfOtherPages, pagePathInDefaultLocale } from '../stores/form-drafts.ts'
import {
  isSignedIn,
  onClick,
  onEachPage,
  pageLocale,
  pageVersion,
  shellTranslator
} from './kit/page.ts'

// the language in which the page is about to open
let changing: Locale | undefined

/**
 * Without this module the links lose the query, the fragment and the values of unfinished forms.
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
  const buildId = pageVersion(document)?.split(' ')[0] ?? ''
  changing = locale
  try {
    const { changeLanguage } = await import('../stores/languages.ts')
    const { address, words, isSaved } = await changeLanguage(locale, { buildId, save: saveFor })
    await openKeepingInput(address, false)
    // shows the message in the language of the new page
    if (!isSaved) await say(translator(locale, words)('shell.languageUnsaved'))
  } catch {
    await say(shellTranslator()('shell.languageLost'))
  } finally {
    changing = undefined
  }
}

/** What was typed and chosen on the page goes along. */
export async function followLanguage(locale: Locale | undefined): Promise<void> {
  if (!locale || locale === pageLocale() || changing) return
  changing = locale
  try {
    const { addressOfThisPageIn } = await import('../stores/language-cookie.ts')
    await openKeepingInput(addressOfThisPageIn(locale), true)
  } finally {
    changing = undefined
  }
}

async function openKeepingInput(address: string, replace: boolean): Promise<void> {
  const [{ storeFormDraft }, { navigate }] = await Promise.all([
    import('../stores/form-values.ts'),
    import('../stores/navigation.ts')
  ])
  // also of forms whose scripts have not run yet; the event lets scripts store further input
  const keep = () => {
    for (const form of document.forms) storeFormDraft(pagePathInDefaultLocale(), form)
    document.dispatchEvent(new Event('vidimus:language'))
    const chosen = fileInputs().map(({ files }) => files)
    const put = () => {
      for (const [at, input] of fileInputs().entries()) input.files = chosen[at] ?? null
    }
    document.addEventListener('astro:after-swap', put, { once: true })
  }
  // at the last moment, because the person may go on typing until then
  document.addEventListener('astro:before-swap', keep, { once: true })
  try {
    await navigate(address, { replace })
  } finally {
    document.removeEventListener('astro:before-swap', keep)
  }
}

function fileInputs(): HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>('input[type=file]')]
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
