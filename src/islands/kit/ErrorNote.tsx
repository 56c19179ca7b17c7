import type { ReactNode } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import { formatBytes, formatDateTime } from '../../core/text/format.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { CopyButton } from './CopyButton.tsx'
import { Icon } from './Icon.tsx'
import { useTranslation } from './use-translation.ts'

export interface ErrorNoteProps {
  error: AppError
  /** Replaces the translated sentence for the error's code. */
  text?: string | undefined
  retry?: () => unknown
  children?: ReactNode
}

/** Shows also the id of the failed request, which the person can quote to support. */
export function ErrorNote({ error, text, retry, children }: ErrorNoteProps) {
  const { locale, t } = useTranslation()
  return (
    <div role="alert" className="alert alert-error alert-outline items-start">
      <Icon name="alert" className="mt-0.5 size-5" />
      <div className="flex min-w-0 flex-col gap-2">
        <p>{text ?? sentenceFor(error, locale, t)}</p>
        {retry && (
          <button type="button" className="btn btn-outline btn-sm self-start" onClick={retry}>
            {t('common.retry')}
          </button>
        )}
        {children}
        {error.instance && error.status >= 500 && <RequestId id={error.instance} />}
      </div>
    </div>
  )
}

function sentenceFor({ code, figures }: AppError, locale: Locale, t: Translate): string {
  if (!figures) return t(`errors.${code}`)
  const { used, limit } = figures
  const values =
    code === 'storage_limit_reached'
      ? { used: formatBytes(used, locale), limit: formatBytes(limit, locale) }
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

function RequestId({ id }: { id: string }) {
  const { t } = useTranslation()
  return (
    <p className="flex flex-wrap items-center gap-2 text-ink-soft text-sm">
      <span className="break-all">{t('errors.request', { id })}</span>
      <CopyButton text={id} />
    </p>
  )
}
