import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { Unsaved } from '../forms/Unsaved.tsx'
import { useAction } from '../forms/use-action.ts'
import { useForm } from '../forms/use-form.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useWords } from '../kit/use-words.ts'
import { LimitFields, type Limits, readLimits } from './LimitFields.tsx'
import { requestWords, storageWords } from './limit-words.ts'

interface LimitEditorProps<Shown extends Limits> {
  limits: Shown
  /**
   * Saves changed limits, which the parent then passes as `limits`. `was` is what was shown when
   * the form was opened. Without `update` the limits are read-only.
   */
  update?: ((limits: Limits, was: Shown) => Promise<void>) | undefined
}

/** Shows limits as text. A button replaces the text by a form that changes them. */
export function LimitEditor<Shown extends Limits>({ limits, update }: LimitEditorProps<Shown>) {
  const { locale, t } = useWords()
  const [isEditing, setEditing] = useState(false)
  const action = useAction({
    what: 'Saving the limits failed',
    send: async ({ changed, was }: { changed: Limits; was: Shown }) => update?.(changed, was),
    handle(error) {
      reportError(error)
      return false
    }
  })
  const opener = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)

  // the focus goes back to the button that opened the form
  useEffect(() => {
    if (wasEditing.current && !isEditing) opener.current?.focus()
    wasEditing.current = isEditing
  }, [isEditing])

  // the form is left whatever becomes of the change
  const save = (changed: Limits, was: Shown) => {
    setEditing(false)
    void action.start({ changed, was })
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
        <dd data-limit="storage">{storageWords(limits.max_storage, locale, t)}</dd>
      </dl>
      {action.failure && <ErrorNote error={action.failure} />}
      {update && (
        <div className="flex flex-wrap items-center gap-4">
          <button
            ref={opener}
            type="button"
            className="btn btn-outline btn-sm"
            aria-disabled={action.isWorking}
            onClick={() => {
              if (action.isWorking) return
              action.reset()
              setEditing(true)
            }}
          >
            {t('limits.edit')}
          </button>
          <p role="status" className="text-ink-soft empty:hidden">
            {action.isWorking ? t('limits.saving') : ''}
          </p>
        </div>
      )}
    </div>
  )
}

interface LimitFormProps<Shown extends Limits> {
  limits: Shown
  save: (limits: Limits, was: Shown) => void
  cancel: () => void
}

function LimitForm<Shown extends Limits>({ limits, save, cancel }: LimitFormProps<Shown>) {
  const { locale, t } = useWords()
  // the limits may change while the form is open
  const [was] = useState(limits)
  const form = useForm({
    what: 'Reading the limits failed',
    send: async values => save(readLimits(values, locale), was)
  })
  const { ref } = form.props
  useEffect(() => ref.current?.querySelector('input')?.focus(), [ref])

  const leave = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    cancel()
  }
  return (
    <>
      <form
        {...form.props}
        className="flex max-w-md flex-col gap-4"
        aria-label={t('limits.title')}
        onKeyDown={leave}
      >
        <LimitFields limits={was} />
        <div className="flex flex-wrap gap-3">
          <button type="submit" className="btn btn-primary">
            {t('limits.save')}
          </button>
          <button type="button" className="btn btn-outline" onClick={cancel}>
            {t('limits.cancel')}
          </button>
        </div>
      </form>
      <Unsaved form={form} />
    </>
  )
}
