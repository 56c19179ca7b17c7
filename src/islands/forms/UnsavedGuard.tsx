import type { TransitionBeforePreparationEvent } from 'astro:transitions/client'
import { useEffect, useEffectEvent, useState } from 'react'
import { localizedPath } from '../../i18n/index.ts'
import {
  deleteDraftsOfOtherPeople,
  pagePathInDefaultLocale,
  storeDraft
} from '../../stores/form-drafts.ts'
import { type FormValues, formDraftName, isFieldChanged } from '../../stores/form-values.ts'
import {
  $session,
  addSessionStartListener,
  signedInUserId,
  userIdOfToken
} from '../../stores/sessions.ts'
import { ConfirmDialog } from '../kit/ConfirmDialog.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import type { FormState } from './use-form.ts'

addSessionStartListener(() => deleteDraftsOfOtherPeople(signedInUserId()))

interface UnsavedGuardProps {
  form?: Pick<FormState, 'props' | 'read' | 'isWorking' | 'isDone'>
  /** Whether something other than the fields is unsaved. */
  isUnsaved?: boolean
}

// a page with several forms asks only once
const asked = new WeakSet<Event>()
// the navigation that undoes another, because the person chose to stay
let isReturning = false

/**
 * Asks before unsaved input is lost, and keeps it as a draft if the session ends. Stands outside
 * the form. The page must pass the translations `forms` to the island.
 */
export function UnsavedGuard({ form, isUnsaved = false }: UnsavedGuardProps) {
  const { locale, t } = useTranslation()
  const [answer, setAnswer] = useState<(mayLeave: boolean) => void>()

  const isChanged = useEffectEvent(
    () =>
      $session.get().status === 'in' &&
      (isUnsaved || (form && !form.isWorking && !form.isDone && hasChanges(form.props.ref.current)))
  )
  const guard = useEffectEvent((event: TransitionBeforePreparationEvent) => {
    const { loader, from, to, direction, navigationType } = event
    if (isReturning) {
      isReturning = false
      event.loader = () => new Promise(() => {})
      return
    }
    const isLanguage = localizedPath(locale, to.pathname) === localizedPath(locale, from.pathname)
    if (asked.has(event) || isLanguage || !isChanged()) return
    asked.add(event)
    event.loader = async () => {
      const mayLeave = await new Promise<boolean>(resolve => setAnswer(() => resolve))
      if (mayLeave) return loader()
      if (navigationType === 'traverse') {
        // the address has changed already
        isReturning = true
        history.go(direction === 'back' ? 1 : -1)
      }
      await new Promise(() => {}) // nothing happens
    }
  })
  const keep = useEffectEvent((owner: string) => {
    if (!form) return
    storeDraft(
      pagePathInDefaultLocale(),
      formDraftName(form.read()),
      withoutPasswords(form.props.ref.current, form.read()),
      owner
    )
  })

  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (isChanged()) event.preventDefault()
    }
    const ask = (event: TransitionBeforePreparationEvent) => guard(event)
    const stop = $session.listen(({ status }, before) => {
      if (status === 'out' && before?.status === 'in') keep(userIdOfToken(before.token) ?? '')
    })
    addEventListener('beforeunload', warn)
    document.addEventListener('astro:before-preparation', ask)
    return () => {
      removeEventListener('beforeunload', warn)
      document.removeEventListener('astro:before-preparation', ask)
      stop()
    }
  }, [])

  if (!answer) return null
  return (
    <ConfirmDialog
      question={t('forms.unsaved.question')}
      yes={t('forms.unsaved.leave')}
      no={t('forms.unsaved.stay')}
      onYes={() => answer(true)}
      onClose={() => {
        setAnswer(undefined)
        // after `onYes`
        setTimeout(() => answer(false))
      }}
    />
  )
}

function hasChanges(form: HTMLFormElement | null): boolean {
  return [...(form?.elements ?? [])].some(isFieldChanged)
}

function withoutPasswords(form: HTMLFormElement | null, values: FormValues): FormValues {
  const kept = { ...values }
  for (const field of form?.querySelectorAll<HTMLInputElement>('[autocomplete$=password]') ?? [])
    delete kept[field.name]
  return kept
}
