import { type Locale, languageTag, type T } from '../../i18n/index.ts'

const namedAtMost = 5

interface UnreadableFilesProps {
  names: readonly string[]
  locale: Locale
  /** Over the namespace `common`. */
  t: T
}

/** Names what was dropped and could not be read. */
export function UnreadableFiles({ names, locale, t }: UnreadableFilesProps) {
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
