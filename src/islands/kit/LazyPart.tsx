import type { ComponentType } from 'react'
import type { T } from '../../i18n/index.ts'
import { usePart } from './use-lazy-part.ts'

/** A part whose code follows once it is shown. Words: `errors` and `common`. */
export function later<Props extends { t: T }>(
  load: () => Promise<ComponentType<Props>>
): ComponentType<Props> {
  return function Later(props: Props) {
    const { t } = props
    const { Part, error, retry } = usePart(load)
    if (Part) return <Part {...props} />
    if (!error) return <div data-state="loading" />
    return (
      <div role="alert" className="flex flex-wrap items-center gap-3">
        <p className="text-error">{t(`errors.${error.code}`)}</p>
        <button type="button" className="btn btn-sm" onClick={() => void retry()}>
          {t('common.retry')}
        </button>
      </div>
    )
  }
}
