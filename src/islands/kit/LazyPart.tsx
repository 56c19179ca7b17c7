import type { ComponentType } from 'react'
import type { T } from '../../i18n/index.ts'
import { useLazyPart } from './use-lazy-part.ts'

/** Returns a part whose code is loaded once it is shown. Words: `errors` and `common`. */
export function lazyPart<Props extends { t: T }>(
  load: () => Promise<ComponentType<Props>>
): ComponentType<Props> {
  return function LazyPart(props: Props) {
    const { t } = props
    const { Part, error, retry } = useLazyPart(load)
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
