import type { Locale, Words } from '../i18n/index.ts'
import { environment } from './environment.ts'

/**
 * All words of a language, which pages themselves hold only in part. Asked for when needed; the
 * browser keeps the answer for 24 hours, as its headers say.
 */
export async function loadMessages(locale: Locale, buildId: string): Promise<Words> {
  const { place, fetch } = environment()
  const { protocol, host } = place()
  try {
    const url = `${protocol}//${host}/_i18n/${buildId}/${locale}/messages.json`
    const response = await fetch(url)
    if (!response.ok) throw new Error(`The messages answered ${response.status}`)
    return await response.json()
  } catch (cause) {
    // biome-ignore lint/suspicious/noConsole: what is specified for those who look into a page
    console.warn(`Failed to load messages for locale ${locale}`)
    throw new Error(`Failed loading locale (${locale})`, { cause })
  }
}
