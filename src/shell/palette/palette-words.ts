import { type Locale, type Translate, translator } from '../../i18n/index.ts'
import { pageLocale } from '../kit/page.ts'

// the words are on no page, because few visits open the palette
const loaders = {
  en: () => import('../../i18n/en/palette.json'),
  fr: () => import('../../i18n/fr/palette.json')
} satisfies Record<Locale, unknown>

export async function loadPaletteTranslator(): Promise<Translate<string>> {
  const locale = pageLocale()
  const { default: palette } = await loaders[locale]()
  return translator(locale, { palette })
}
