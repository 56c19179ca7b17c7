import { type KeyboardEvent, useEffect, useEffectEvent, useState } from 'react'
import type { GroupUsage } from '../../contract/groups.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { FormErrors } from '../forms/Field.tsx'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { type FormValues, useForm } from '../forms/use-form.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useRestoreFocus } from '../kit/use-restore-focus.ts'
import { useTranslation } from '../kit/use-translation.ts'
import {
  describeRequestLimit,
  describeStorageLimit,
  type GroupLimits,
  LimitFields,
  limitsFromForm,
  useLimitChecks
} from './LimitFields.tsx'

interface LimitEditorProps<Shown extends GroupLimits> {
  limits: Shown
  usage?: GroupUsage
  /**
   * `was` is the value of `limits` when the form was opened. Undefined while the limits must not
   * change.
   */
  update?: ((limits: GroupLimits, was: Shown) => Promise<void>) | undefined
}

interface Change<Shown> {
  typed: FormValues
  was: Shown
}

// the form closes as soon as the change is sent; after a failure it can be sent or edited again
export function LimitEditor<Shown extends GroupLimits>({
  limits,
  usage,
  update
}: LimitEditorProps<Shown>) {
  const { locale, t } = useTranslation()
  const [isEditing, setEditing] = useState(false)
  const [sent, setSent] = useState<Change<Shown>>()
  const action = useAction({
    what: 'Saving the limits failed',
    send: async ({ typed, was }: Change<Shown>) => update?.(limitsFromForm(typed, locale), was),
    handle(error) {
      reportError(error)
      return false
    }
  })
  const opener = useRestoreFocus(isEditing)

  const save = (change: Change<Shown>) => {
    setEditing(false)
    setSent(change)
    void action.start(change)
  }
  const edit = (again?: Change<Shown>) => {
    if (action.isWorking) return
    setSent(again)
    action.reset()
    setEditing(true)
  }

  if (isEditing) {
    return (
      <LimitForm {...{ limits, usage }} again={sent} save={save} cancel={() => setEditing(false)} />
    )
  }
  return (
    <div className="flex flex-col gap-3">
      <dl className="tabular grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <dt className="text-ink-soft">{fieldLabel('max_requests', locale)}</dt>
        <dd data-limit="requests">{describeRequestLimit(limits, t)}</dd>
        <dt className="text-ink-soft">{fieldLabel('max_storage', locale)}</dt>
        <dd data-limit="storage">{describeStorageLimit(limits.max_storage, locale, t)}</dd>
      </dl>
      {action.failure && sent && (
        <ErrorNote error={action.failure}>
          <p>{notSaved(limitsFromForm(sent.typed, locale), locale, t)}</p>
          {update && (
            <div className="flex flex-wrap gap-3">
              <button
                type="button"
                className="btn btn-outline btn-sm"
                onClick={() => void action.start(sent)}
              >
                {t('common.retry')}
              </button>
              <button type="button" className="btn btn-outline btn-sm" onClick={() => edit(sent)}>
                {t('limits.editAgain')}
              </button>
            </div>
          )}
          <UnsavedGuard isUnsaved />
        </ErrorNote>
      )}
      {update && (
        <div className="flex flex-wrap items-center gap-4">
          <button
            ref={opener}
            type="button"
            className="btn btn-outline btn-sm"
            aria-disabled={action.isWorking}
            onClick={() => edit()}
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

interface LimitFormProps<Shown extends GroupLimits> {
  limits: Shown
  usage: GroupUsage | undefined
  again: Change<Shown> | undefined
  save: (change: Change<Shown>) => void
  cancel: () => void
}

function LimitForm<Shown extends GroupLimits>(props: LimitFormProps<Shown>) {
  const { limits, usage, again, save, cancel } = props
  const { t } = useTranslation()
  // the limits may change while the form is open
  const [was] = useState(again?.was ?? limits)
  const form = useForm({
    ...useLimitChecks(),
    what: 'Reading the limits failed',
    send: async typed => save({ typed, was })
  })
  const { ref } = form.props
  const begin = useEffectEvent(() => {
    if (again) form.fill(again.typed)
    ref.current?.querySelector('input')?.focus()
  })
  useEffect(() => begin(), [])

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
        <FormErrors value={form.errors}>
          <LimitFields usage={usage} limits={was} />
        </FormErrors>
        <div className="flex flex-wrap gap-3">
          <button type="submit" className="btn btn-primary">
            {t('limits.save')}
          </button>
          <button type="button" className="btn btn-outline" onClick={cancel}>
            {t('limits.cancel')}
          </button>
        </div>
      </form>
      <UnsavedGuard form={form} />
    </>
  )
}

function notSaved(limits: GroupLimits, locale: Locale, t: Translate): string {
  return t('limits.notSaved', {
    requests: describeRequestLimit(limits, t),
    storage: describeStorageLimit(limits.max_storage, locale, t)
  })
}
