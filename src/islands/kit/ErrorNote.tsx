import { type ReactNode, useMemo } from 'react'
import type { AppError } from '../../contract/errors.ts'
import { formatByteLimit, formatBytes, formatDateTime } from '../../core/text/format.ts'
import type { Locale, T } from '../../i18n/index.ts'
import { CopyButton } from './CopyButton.tsx'
import { Icon } from './Icon.tsx'
import { retryTime } from './time.ts'

interface ErrorNoteProps {
  error: AppError
  locale: Locale
  /** Over the namespaces `errors` and `common`. */
  t: T
  /** A sentence that says more than the one of the code. */
  text?: string | undefined
  /** What to do about it: a link or a button. */
  children?: ReactNode
}

/** What went wrong in the person's language, with the id of the request to quote. */
export function ErrorNote({ error, locale, t, text, children }: ErrorNoteProps) {
  return (
    <div role="alert" className="alert alert-error alert-outline items-start">
      <Icon name="alert" className="mt-0.5 size-5" />
      <div className="flex min-w-0 flex-col gap-2">
        <p>{text ?? sentenceFor(error, locale, t)}</p>
        {children}
        {error.instance && <RequestId id={error.instance} t={t} />}
      </div>
    </div>
  )
}

/** The same where people sign in or change their account: says when to try again. Words: `account`, too. */
export function AccountErrorNote({ error, locale, t, text, children }: ErrorNoteProps) {
  const until = useMemo(
    // A service that is busy says when to come back, too, but nobody has tried too often.
    () => (error.code === 'rate_limited' ? retryTime(error, locale) : undefined),
    [error, locale]
  )
  return (
    <ErrorNote
      error={error}
      locale={locale}
      t={t}
      text={until ? t('account.tryAgainAt', { time: until }) : text}
    >
      {children}
    </ErrorNote>
  )
}

/** The sentence of a code, with the figures of a limit that was met and the time at which it starts again. */
function sentenceFor({ code, figures }: AppError, locale: Locale, t: T): string {
  if (!figures) return t(`errors.${code}`)
  const { used, limit } = figures
  const values =
    code === 'storage_limit_reached'
      ? { used: formatBytes(used, locale), limit: formatByteLimit(limit, locale) }
      : { used, limit }
  const sentence = t(`errors.${code}`, values)
  const hasFigures = sentence !== t(`errors.${code}`)
  const { resets_at } = figures
  return [
    sentence,
    hasFigures ? '' : t('errors.ofLimit', values),
    resets_at && t('errors.resets', { resets_at: formatDateTime(new Date(resets_at), locale) })
  ]
    .filter(Boolean)
    .join(' ')
}

function RequestId({ id, t }: { id: string; t: T }) {
  return (
    <p className="flex flex-wrap items-center gap-2 text-ink-soft text-sm">
      <span className="break-all">{t('errors.request', { id })}</span>
      <CopyButton text={id} t={t} />
    </p>
  )
}
