import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { BulkRunState } from '../../stores/lists/bulk-run.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { ProgressBar } from '../kit/ProgressBar.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { RefusalList } from './RefusalList.tsx'

interface BulkRunPanelProps<Change> {
  run: BulkRunState<Change>
  /** `Add to the group “Sales”` */
  title: string
  /** `3 people were added.` */
  done: (count: number) => string
  /** `2 were members already.` */
  unchanged: (count: number) => string
  /** Names by id. The panel shows the id of an item without a name. */
  namesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>
  onStop: () => void
  onResume: () => void
  onRetry: () => void
  /** Undefined if the change cannot be undone. */
  onUndo: (() => void) | undefined
  onSave: () => void
  onDismiss: () => void
}

// the downloaded file has all of them
const mostListed = 50

export function BulkRunPanel<Change>(props: BulkRunPanelProps<Change>) {
  const { run, title, onStop, onResume, onRetry, onUndo, onSave, onDismiss } = props
  const { t } = useTranslation()
  const heading = useRef<HTMLHeadingElement>(null)
  const { status, total, treated, done, refused } = run
  const isRunning = status === 'running' || status === 'stopping'
  useEffect(() => {
    if (isRunning) heading.current?.focus()
  }, [isRunning])
  // a quick change has ended before the code of this part has come, and its button is gone
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus()
  }, [])
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (isRunning) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isRunning])

  return (
    <section
      className="sheet flex flex-col gap-4"
      aria-labelledby="bulk-title"
      data-bulk={typeof status === 'string' ? status : 'failed'}
    >
      <h2 id="bulk-title" ref={heading} tabIndex={-1} className="section-title wrap-anywhere">
        {title}
      </h2>
      {isRunning ? (
        <div className="flex flex-col gap-2">
          <ProgressBar label={title} ratio={total > 0 ? treated / total : undefined} />
          <p className="tabular text-ink-soft text-sm">
            {t('lists.bulk.progress', { done: treated, total })}
          </p>
        </div>
      ) : (
        <>
          {typeof status === 'object' && (
            <ErrorNote error={status.error}>
              <p>{t('lists.bulk.failed', { done: treated, total })}</p>
            </ErrorNote>
          )}
          <div role="status" className="flex flex-col gap-2">
            {status === 'stopped' && <p>{t('lists.bulk.stopped', { done: treated, total })}</p>}
            {refused.length > 0 && <Refusals {...props} />}
            {(done.length > 0 || refused.length === 0) && <p>{props.done(done.length)}</p>}
            {run.unchanged > 0 && <p className="text-ink-soft">{props.unchanged(run.unchanged)}</p>}
          </div>
        </>
      )}
      <div className="flex flex-wrap gap-2">
        {isRunning && (
          <button
            type="button"
            className="btn btn-outline btn-sm"
            aria-disabled={status === 'stopping'}
            onClick={onStop}
          >
            {status === 'stopping' ? t('lists.bulk.stopping') : t('lists.bulk.stop')}
          </button>
        )}
        {!isRunning && status !== 'done' && (
          <button type="button" className="btn btn-outline btn-sm" onClick={onResume}>
            {t('lists.bulk.resume')}
          </button>
        )}
        {!isRunning && refused.length > 0 && (
          <>
            <button type="button" className="btn btn-outline btn-sm" onClick={onRetry}>
              {t('lists.bulk.retry', { count: refused.length })}
            </button>
            <button type="button" className="btn btn-outline btn-sm" onClick={onSave}>
              {t('lists.bulk.save')}
            </button>
          </>
        )}
        {!isRunning && onUndo && done.length > 0 && (
          <button type="button" className="btn btn-outline btn-sm" onClick={onUndo}>
            {t('lists.bulk.undo')}
          </button>
        )}
        {!isRunning && (
          <button type="button" className="btn btn-ghost btn-sm" onClick={onDismiss}>
            {t('lists.bulk.dismiss')}
          </button>
        )}
      </div>
    </section>
  )
}

function Refusals<Change>({ run, namesOf }: Pick<BulkRunPanelProps<Change>, 'run' | 'namesOf'>) {
  const { t } = useTranslation()
  const { refused } = run
  const [names, setNames] = useState<ReadonlyMap<string, string>>()
  const load = useEffectEvent(namesOf)
  useEffect(() => {
    let isStale = false
    void load(refused.slice(0, mostListed).map(({ id }) => id)).then(found => {
      if (!isStale) setNames(found)
    })
    return () => {
      isStale = true
    }
  }, [refused])
  const rest = refused.length - mostListed
  return (
    <RefusalList
      title={t('lists.bulk.refused', { count: refused.length })}
      refused={refused.slice(0, mostListed).map(({ id, code }) => ({
        id,
        name: names?.get(id) ?? id,
        reason: t(`errors.${code}`)
      }))}
    >
      {rest > 0 && <p>{t('lists.bulk.moreRefused', { count: rest })}</p>}
    </RefusalList>
  )
}
