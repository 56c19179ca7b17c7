import { localizePath } from 'astro-i18next'
import i18next from 'i18next'
import { type Locale, type Messages, type Translate, translator } from './index.ts'
import type { Namespace, NamespaceKey } from './keys.ts'

/**
 * Translates while the server renders a page. The `t` of i18next has one language for the whole
 * process, so concurrent requests would change each other's.
 */
export function pageTranslator<Name extends Namespace>(
  locale: Locale,
  namespace: Name
): Translate<NamespaceKey<Name>> {
  return translator(locale, bundle(locale, namespace))
}

/** Returns the texts for an island's `messages`: namespaces (`users`) or parts (`users.list`). */
export function islandMessages(
  locale: Locale,
  ...parts: (Namespace | `${Namespace}.${string}`)[]
): Record<string, Messages> {
  const messages: Record<string, Messages> = {}
  for (const part of parts) {
    const [name = '', key] = part.split('.')
    const whole = bundle(locale, name as Namespace) // as: what a part begins with
    const found = key === undefined ? undefined : whole[key]
    if (key !== undefined && found === undefined) throw new Error(`No text has the key ${part}`)
    messages[name] = found === undefined ? whole : { ...messages[name], [key ?? '']: found }
  }
  return messages
}

/** For links that the server renders. Scripts in the browser use `localizedPath()`. */
export function pathWithLocale(locale: Locale, path: string): string {
  return localizePath(path, locale)
}

function bundle(locale: Locale, namespace: Namespace): Messages {
  return i18next.getResourceBundle(locale, namespace)
}
