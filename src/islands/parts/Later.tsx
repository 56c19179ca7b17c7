import { type FunctionComponent, useCallback, useEffect, useState } from 'react'
import type { T } from '../../i18n/index.ts'

type Load<Props> = () => Promise<FunctionComponent<Props>>

/** A part that is loaded when it is needed, and can be asked for again where it was lost on the way. */
export function useLater<Props>(get: Load<Props>) {
  const [Part, setPart] = useState<FunctionComponent<Props>>()
  const [isLost, setLost] = useState(false)
  const load = useCallback(async () => {
    setLost(false)
    try {
      const part = await get()
      setPart(() => part)
    } catch {
      setLost(true)
    }
  }, [get])
  return { Part, isLost, load }
}

/** The same as a component, which loads its part as soon as it is shown. Words: `errors` and `common`. */
export function later<Props extends { t: T }>(get: Load<Props>): FunctionComponent<Props> {
  return function Later(props: Props) {
    const { t } = props
    const { Part, isLost, load } = useLater(get)
    useEffect(() => void load(), [load])
    if (Part) return <Part {...props} />
    if (!isLost) return <div data-state="loading" />
    return (
      <div role="alert" className="flex flex-wrap items-center gap-3">
        <p className="text-error">{t('errors.offline')}</p>
        <button type="button" className="btn btn-sm" onClick={() => void load()}>
          {t('common.retry')}
        </button>
      </div>
    )
  }
}
