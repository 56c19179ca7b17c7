import { type ComponentType, useCallback, useEffect, useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import { loadCode } from './load-code.ts'
import { useTranslation } from './use-translation.ts'

/** Loads the component when it is first shown. After a failure, a button tries again. */
export function lazyComponent<Props extends object>(
  load: () => Promise<ComponentType<Props>>
): ComponentType<Props> {
  return function LazyComponent(props: Props) {
    const { t } = useTranslation()
    const { Component, error, retry } = useLazyComponent(load)
    if (Component) return <Component {...props} />
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

export function useLazyComponent<Props>(load: () => Promise<ComponentType<Props>>) {
  const [Component, setComponent] = useState<ComponentType<Props>>()
  const [error, setError] = useState<AppError>()
  const first = useRef(load)
  const retry = useCallback(async () => {
    setError(undefined)
    try {
      const loaded = await loadCode(first.current)
      setComponent(() => loaded)
    } catch (cause) {
      setError(asAppError(cause, 'Loading a part of the page failed'))
    }
  }, [])
  useEffect(() => void retry(), [retry])
  return { Component, error, retry }
}
