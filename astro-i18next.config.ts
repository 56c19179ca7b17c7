// Read by astro-i18next through its own loader: it must be .ts with nothing but a default export, and
// import.meta is not available.
import { textsOf } from './scripts/texts.ts'

/** Returns the texts that pages use: only the server writes mails. */
function textsOfPages(locale: string) {
  const { mails: _, ...texts } = textsOf(locale)
  return texts
}

const resources = { en: textsOfPages('en'), fr: textsOfPages('fr') }

export default {
  locales: ['en', 'fr'],
  defaultLocale: 'en',
  namespaces: Object.keys(resources.en),
  defaultNamespace: 'common',
  showDefaultLocale: true,
  load: ['server'],
  i18nextServerPlugins: { fsBackend: null },
  i18nextServer: {
    backend: null,
    initAsync: false,
    initImmediate: false,
    // Astro escapes; the words are plain text.
    interpolation: { escapeValue: false },
    resources
  }
}
