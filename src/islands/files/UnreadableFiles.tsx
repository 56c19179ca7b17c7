import { languageTag } from '../../i18n/index.ts'
import { useTranslation } from '../kit/use-translation.ts'

const namedAtMost = 5

export function UnreadableFiles({ names }: { names: readonly string[] }) {
  const { locale, t } = useTranslation()
  if (names.length === 0) return null
  const more = names.length - namedAtMost
  const shown = names.slice(0, namedAtMost)
  if (more > 0) shown.push(t('files.unreadable.more', { count: more }))
  const list = new Intl.ListFormat(languageTag(locale)).format(shown)
  return (
    <p role="alert" className="wrap-anywhere text-error">
      {t('files.unreadable.text', { count: names.length, names: list })}
    </p>
  )
}
