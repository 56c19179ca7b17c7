import { useEffect, useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { loadCode } from '../kit/load-code.ts'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'

type State =
  | { status: 'idle' | 'saved' }
  | { status: 'working'; count: number }
  | { status: 'failed'; error: AppError }

export function ExportOwnData() {
  const { t } = useTranslation()
  const [state, setState] = useState<State>({ status: 'idle' })
  const running = useRef<AbortController>(undefined)
  const button = useRef<HTMLButtonElement>(null)

  useEffect(() => () => running.current?.abort(), [])

  const save = async () => {
    if (state.status === 'working') return
    // keeps the focus, because the retry button of the error is removed at once
    button.current?.focus()
    const stop = new AbortController()
    running.current = stop
    const { signal } = stop
    const onProgress = (count: number) => setState({ status: 'working', count })
    onProgress(0)
    try {
      const { downloadOwnData } = await loadCode(() => import('../files/download-exports.ts'))
      await downloadOwnData({ signal, onProgress }, 'vidimus-export')
      setState({ status: 'saved' })
    } catch (cause) {
      if (signal.aborted) return
      setState({ status: 'failed', error: asAppError(cause, 'Saving the own data failed') })
    }
  }

  return (
    <Section id="own-data" title={t('me.data.title')} note={t('me.data.content')}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <button
          ref={button}
          type="button"
          className="btn btn-outline"
          aria-disabled={state.status === 'working'}
          onClick={() => void save()}
        >
          {t('me.data.save')}
        </button>
        <p role="status" className="text-ink-soft text-sm empty:hidden">
          {state.status === 'working' && t('me.data.working')}
          {state.status === 'saved' && t('me.data.saved')}
        </p>
        {/* outside the status, so that screen readers do not announce each step */}
        {state.status === 'working' && state.count > 0 && (
          <p className="tabular text-ink-soft text-sm">
            {t('me.data.progress', { count: state.count })}
          </p>
        )}
      </div>
      {state.status === 'failed' && <ErrorNote error={state.error} retry={() => save()} />}
    </Section>
  )
}
