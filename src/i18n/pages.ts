import { localizePath } from 'astro-i18next'
import i18next from 'i18next'
import { type Locale, type T, translator, type Words } from './index.ts'
import type { KeyIn, Namespace } from './keys.ts'

/**
 * Returns the function that translates the texts of one namespace while the server renders a page.
 * i18next only stores the texts. Its own `t` is not used, because it has one language for the whole
 * process, which concurrent HTTP requests would change.
 */
export function wordsFor<Name extends Namespace>(locale: Locale, namespace: Name): T<KeyIn<Name>> {
  return translator(locale, bundle(locale, namespace))
}

/** Returns the texts of the namespaces that an island needs, for the island's property `words`. */
export function wordsOf(locale: Locale, ...namespaces: Namespace[]): Record<string, Words> {
  return Object.fromEntries(namespaces.map(name => [name, bundle(locale, name)]))
}

/** Returns a path with the locale in front, for links in pages: `fr`, `/verify` → `/fr/verify` */
export function pathIn(locale: Locale, path: string): string {
  return localizePath(path, locale)
}

function bundle(locale: Locale, namespace: Namespace): Words {
  return i18next.getResourceBundle(locale, namespace)
}
