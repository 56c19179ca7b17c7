import { type KeyboardEvent, type SyntheticEvent, useEffect, useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import {
  readRequestLimit,
  readStorageLimit,
  writeRequestLimit,
  writeStorageLimit
} from '../../core/input/limit-input.ts'
import { type Interval, intervals } from '../../core/limit-period.ts'
import { formatByteLimit } from '../../core/text/format.ts'
import type { T } from '../../i18n/index.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Field } from '../kit/Field.tsx'
import { useWords } from '../kit/use-words.ts'

/** Limits of a group. `null` means unlimited. `max_storage` is in bytes. */
export interface Limits {
  max_requests: number | null
  max_requests_interval: Interval
  max_storage: number | null
}

interface LimitEditorProps {
  limits: Limits
  /**
   * Saves changed limits, which the parent then passes as `limits`. Without it the limits are
   * read-only.
   */
  update?: (limits: Limits) => Promise<void>
}

/** Shows limits as text. A button replaces the text by a form that changes them. */
export function LimitEditor({ limits, update }: LimitEditorProps) {
  const { locale, t } = useWords()
  const [isEditing, setEditing] = useState(false)
  const [state, setState] = useState<'idle' | 'saving' | AppError>('idle')
  const opener = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)

  // the focus goes back to the button that opened the form
  useEffect(() => {
    if (wasEditing.current && !isEditing) opener.current?.focus()
    wasEditing.current = isEditing
  }, [isEditing])

  const save = async (changed: Limits) => {
    setEditing(false)
    setState('saving')
    try {
      await update?.(changed)
      setState('idle')
    } catch (cause) {
      reportError(cause)
      setState(asAppError(cause, 'Saving the limits failed'))
    }
  }

  if (isEditing) {
    return <LimitForm {...{ limits }} save={save} cancel={() => setEditing(false)} />
  }
  return (
    <div className="flex flex-col gap-3">
      <dl className="tabular grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <dt className="text-ink-soft">{t('limits.requests')}</dt>
        <dd data-limit="requests">{requestWords(limits, t)}</dd>
        <dt className="text-ink-soft">{t('limits.storage')}</dt>
        <dd data-limit="storage">
          {limits.max_storage === null
            ? t('limits.unlimited')
            : formatByteLimit(limits.max_storage, locale)}
        </dd>
      </dl>
      {typeof state === 'object' && <ErrorNote error={state} />}
      {update && (
        <div className="flex flex-wrap items-center gap-4">
          <button
            ref={opener}
            type="button"
            className="btn btn-outline btn-sm"
            aria-disabled={state === 'saving'}
            onClick={() => {
              if (state === 'saving') return
              setState('idle')
              setEditing(true)
            }}
          >
            {t('limits.edit')}
          </button>
          <p role="status" className="text-ink-soft empty:hidden">
            {state === 'saving' ? t('limits.saving') : ''}
          </p>
        </div>
      )}
    </div>
  )
}

interface LimitFormProps {
  limits: Limits
  save: (limits: Limits) => Promise<void>
  cancel: () => void
}

function LimitForm({ limits, save, cancel }: LimitFormProps) {
  const { locale, t } = useWords()
  const form = useRef<HTMLFormElement>(null)
  const [typed, setTyped] = useState({
    requests: writeRequestLimit(limits.max_requests, locale),
    storage: writeStorageLimit(limits.max_storage, locale)
  })
  useEffect(() => form.current?.querySelector('input')?.focus(), [])

  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (!form.current) return
    const given = new FormData(form.current)
    const text = (name: string) => String(given.get(name) ?? '')
    void save({
      max_requests: readRequestLimit(text('requests'), locale),
      max_requests_interval: intervals.find(each => each === text('interval')) ?? null,
      max_storage: readStorageLimit(text('storage'), locale)
    })
  }
  const leave = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    cancel()
  }
  const follow = ({ target }: SyntheticEvent) => {
    if (!(target instanceof HTMLInputElement)) return
    setTyped(before => ({ ...before, [target.name]: target.value }))
  }
  // When a field loses the focus, it shows how its text is understood.
  const rewrite = (event: SyntheticEvent) => {
    const { target } = event
    if (!(target instanceof HTMLInputElement)) return
    const read = target.name === 'requests' ? readRequestLimit : readStorageLimit
    const write = target.name === 'requests' ? writeRequestLimit : writeStorageLimit
    target.value = write(read(target.value, locale), locale)
    follow(event)
  }
  const hintOf = (limit: number | null) => t(limit === null ? 'limits.none' : 'limits.empty')

  return (
    <form
      ref={form}
      noValidate
      method="post"
      className="flex max-w-md flex-col gap-4"
      aria-label={t('limits.title')}
      onSubmit={submit}
      onKeyDown={leave}
      onInput={follow}
      onBlur={rewrite}
    >
      <Field
        label={t('limits.requests')}
        name="requests"
        inputMode="numeric"
        initial={typed.requests}
        hint={hintOf(readRequestLimit(typed.requests, locale))}
      />
      <label className="flex flex-col gap-1">
        <span className="label-text">{t('limits.period')}</span>
        <select
          name="interval"
          className="select w-full"
          defaultValue={limits.max_requests_interval ?? ''}
        >
          {intervals.map(interval => (
            <option key={interval} value={interval ?? ''}>
              {t(`limits.periods.${interval ?? 'total'}`)}
            </option>
          ))}
        </select>
      </label>
      <Field
        label={t('limits.gigabytes')}
        name="storage"
        inputMode="decimal"
        initial={typed.storage}
        hint={hintOf(readStorageLimit(typed.storage, locale))}
      />
      <div className="flex flex-wrap gap-3">
        <button type="submit" className="btn btn-primary">
          {t('limits.save')}
        </button>
        <button type="button" className="btn btn-outline" onClick={cancel}>
          {t('limits.cancel')}
        </button>
      </div>
    </form>
  )
}

/** Describes a request limit: `1,000 requests per day`, « 1 000 demandes par jour » */
function requestWords({ max_requests, max_requests_interval }: Limits, t: T): string {
  if (max_requests === null) return t('limits.unlimited')
  return t(`limits.of.${max_requests_interval ?? 'total'}`, { count: max_requests })
}
