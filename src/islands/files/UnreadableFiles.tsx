import { type Locale, languageTag, type T } from '../../i18n/index.ts'

const namedAtMost = 5

interface UnreadableProps {
  names: readonly string[]
  locale: Locale
  /** Over the namespace `common`. */
  t: T
}

/** Names what was dropped and could not be read. */
export function Unreadable({ names, locale, t }: UnreadableProps) {
  if (names.length === 0) return null
  const more = names.length - namedAtMost
  const shown = names.slice(0, namedAtMost)
  if (more > 0) shown.push(t('common.unreadable.more', { count: more }))
  const list = new Intl.ListFormat(languageTag(locale)).format(shown)
  return (
    <p role="alert" className="wrap-anywhere text-error">
      {t('common.unreadable.text', { count: names.length, names: list })}
    </p>
  )
}
