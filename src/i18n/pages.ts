import { localizePath } from 'astro-i18next'
import i18next from 'i18next'
import { type Locale, type Messages, type Translate, translator } from './index.ts'
import type { Namespace, NamespaceKey } from './keys.ts'

/**
 * Returns the function that translates the texts of one namespace while the server renders a page.
 * Does not use the function `t` of i18next: it has one language for the whole process, so
 * concurrent HTTP requests would change each other's language. i18next only stores the texts.
 */
export function pageTranslator<Name extends Namespace>(
  locale: Locale,
  namespace: Name
): Translate<NamespaceKey<Name>> {
  return translator(locale, bundle(locale, namespace))
}

/**
 * Returns the translated texts that a page passes to an island in the property `messages`. Each of
 * `parts` is a whole namespace (`users`) or a part of a namespace (`users.list`), which keeps the
 * page smaller. Throws if the namespace has no such part.
 */
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

/**
 * Returns a path with `locale` in front, for links in pages that the server renders: `fr`,
 * `/verify` → `/fr/verify`. Scripts in the browser use `localizedPath()`.
 */
export function pathWithLocale(locale: Locale, path: string): string {
  return localizePath(path, locale)
}

function bundle(locale: Locale, namespace: Namespace): Messages {
  return i18next.getResourceBundle(locale, namespace)
}
