import { separateCompleteMediaKinds } from '../../core/media-types.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'

/** `['application/pdf', 'image/*']` → `PDF and pictures` */
export function describeMediaTypes(types: readonly string[], locale: Locale, t: Translate): string {
  const { kinds, others } = separateCompleteMediaKinds(types)
  const words = [...kinds.map(kind => t(`common.mediaKinds.${kind}`)), ...others]
  return new Intl.ListFormat(languageTag(locale)).format(words)
}
