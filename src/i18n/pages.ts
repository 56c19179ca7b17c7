import { localizePath } from 'astro-i18next'
import i18next from 'i18next'
import { type Locale, type T, translator, type Words } from './index.ts'
import type { KeyIn, Namespace } from './keys.ts'

/**
 * Returns the function that translates the words of one namespace for the page that is being
 * rendered. i18next only stores the catalogues. Its own `t` is not used, because its language is
 * the same for the whole process and concurrent requests would change it for each other.
 */
export function wordsFor<Name extends Namespace>(locale: Locale, namespace: Name): T<KeyIn<Name>> {
  return translator(locale, bundle(locale, namespace))
}

/**
 * Returns the words of the namespaces that an island needs. Pass them to the island as the property
 * `words`.
 */
export function wordsOf(locale: Locale, ...namespaces: Namespace[]): Record<string, Words> {
  return Object.fromEntries(namespaces.map(name => [name, bundle(locale, name)]))
}

/** Returns a path with the locale, for links in pages: `fr`, `/verify` → `/fr/verify` */
export function pathIn(locale: Locale, path: string): string {
  return localizePath(path, locale)
}

function bundle(locale: Locale, namespace: Namespace): Words {
  return i18next.getResourceBundle(locale, namespace)
}
