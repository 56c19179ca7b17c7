import { useStore } from '@nanostores/react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { DisabledReason, parseDisabledReason } from '../../contract/kit/disabled.ts'
import type { Member } from '../../contract/members.ts'
import { required } from '../../core/input/validators.ts'
import { mailLinkMinutes } from '../../core/mail-link-minutes.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { personName } from '../../core/text/person-name.ts'
import { loadApiKeys } from '../../stores/accounts/api-keys.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  $linkToPassOn,
  deleteMember,
  disableMember,
  enableMember,
  reloadMember,
  resendInvitationOrVerifyLink,
  signOutMember,
  type UndoFunction
} from '../../stores/admin/members.ts'
import { useDeletionActionOptions } from '../details/use-deletion.ts'
import { useHasMailServer } from '../details/use-has-mail-server.ts'
import { ButtonWithNote } from '../forms/ButtonWithNote.tsx'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { ConfirmButton } from '../forms/ConfirmButton.tsx'
import { InPlaceEditor, InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { useForm } from '../forms/use-form.ts'
import { CopyButton } from '../kit/CopyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Section } from '../kit/Section.tsx'
import { showMessage } from '../kit/show-message.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { useUndoMessage } from '../kit/use-undo-message.ts'

interface MemberProps {
  member: Member
}

interface UserAccountControlsProps extends MemberProps {
  isOwn: boolean
}

export function UserAccountControls({ member, isOwn }: UserAccountControlsProps) {
  const { locale, t } = useTranslation()
  const title = useRef<HTMLHeadingElement>(null)
  const { state, disabled } = member
  const date = formatDateTime(new Date(disabled?.since ?? member.created), locale)
  return (
    <Section id="user-access" ref={title} title={t('person.access.title')}>
      <div>
        <p>{t(`person.access.${state}`, { date })}</p>
        {disabled && <p>{t(`person.access.reasons.${parseDisabledReason(disabled.reason)}`)}</p>}
      </div>
      <LinkToPassOn member={member} />
      {(state === 'invited' || state === 'waiting') && <SendAgain member={member} />}
      {state === 'waiting' && <RemoveSignUp member={member} />}
      {state === 'disabled' && <Enable member={member} title={title} />}
      {isOwn && <p className="meta">{t('person.access.own')}</p>}
      {!isOwn && state === 'active' && <SignOut member={member} />}
      {!isOwn && (state === 'active' || state === 'invited') && (
        <Disable member={member} title={title} />
      )}
    </Section>
  )
}

function SendAgain({ member }: MemberProps) {
  const { locale, t } = useTranslation()
  const isWaiting = member.state === 'waiting'
  const { email } = member
  const action = useAction({
    what: 'Sending the link failed',
    async send() {
      const { link, queued_until } = await resendInvitationOrVerifyLink(member)
      if (queued_until !== undefined) {
        const date = formatDateTime(new Date(queued_until), locale)
        showMessage(t('person.access.queued', { email, date }))
      } else if (link === undefined) {
        showMessage(t(isWaiting ? 'person.access.sentVerify' : 'person.access.sent', { email }))
      }
    }
  })
  const minutes = mailLinkMinutes[isWaiting ? 'verify' : 'activate']
  const [mailed, made] = isWaiting
    ? (['verifyAgain', 'newVerifyLink'] as const)
    : (['again', 'newLink'] as const)
  const label = useHasMailServer() ? mailed : made
  return (
    <ButtonWithNote
      label={t(`person.access.${label}`)}
      note={t('person.access.againNote', { hours: minutes / 60 })}
      action={action}
    />
  )
}

function RemoveSignUp({ member }: MemberProps) {
  const { t } = useTranslation()
  const { id, email } = member
  const action = useAction(
    useDeletionActionOptions({
      list: 'users',
      remove: () => deleteMember(member),
      reload: () => reloadMember(id),
      done: t('person.access.removed', { email })
    })
  )
  return (
    <>
      {action.failure && <ErrorNote error={action.failure} />}
      <ConfirmButton
        label={t('person.access.removeSignUp')}
        look="btn-outline btn-sm self-start"
        question={t('person.access.removeQuestion', { email })}
        yes={t('person.access.remove')}
        no={t('person.access.keep')}
        action={action}
      />
    </>
  )
}

function SignOut({ member }: MemberProps) {
  const { t } = useTranslation()
  const [revokesKeys, setRevokesKeys] = useState(false)
  const action = useAction({
    what: 'Signing the person out failed',
    async send() {
      await signOutMember(member.id, revokesKeys)
      if (revokesKeys) void loadApiKeys({ company: companyIdOfPage(), person: member.id })
      showMessage(t('person.access.signedOut', { who: personName(member) }))
    }
  })
  return (
    <div className="flex flex-col items-start gap-2">
      <ButtonWithNote
        label={t('person.access.signOut')}
        note={t('person.access.signOutNote')}
        action={action}
      />
      <label className="flex min-h-8 items-center gap-3">
        <input
          type="checkbox"
          className="checkbox"
          checked={revokesKeys}
          onChange={event => setRevokesKeys(event.target.checked)}
        />
        {t('person.access.signOutKeys')}
      </label>
    </div>
  )
}

interface TitledProps extends MemberProps {
  /** Gets the focus when the pressed button disappears. */
  title: RefObject<HTMLHeadingElement | null>
}

function Enable({ member, title }: TitledProps) {
  const { t } = useTranslation()
  const announceWithUndo = useUndoMessage(t('person.access.undo'))
  const action = useAction({
    what: 'Enabling the person failed',
    async send() {
      // undoing needs a reason that this release knows; a later release may have stored another
      const reason = DisabledReason.safeParse(member.disabled?.reason).data ?? 'requested'
      const undo = await enableMember(member.id, reason)
      announceWithUndo(t('person.access.isEnabled', { who: personName(member) }), undo)
      title.current?.focus()
    }
  })
  return (
    <ButtonWithNote
      label={t('person.access.enable')}
      note={t('person.access.enableNote')}
      action={action}
    />
  )
}

function Disable({ member, title }: TitledProps) {
  const { t } = useTranslation()
  const announceWithUndo = useUndoMessage(t('person.access.undo'))
  const done = (undo: UndoFunction) => {
    announceWithUndo(t('person.access.isDisabled', { who: personName(member) }), undo)
    // the form is gone
    title.current?.focus()
  }
  return (
    <InPlaceEditor label={t('person.access.disable')}>
      {close => <DisableForm member={member} close={close} done={done} />}
    </InPlaceEditor>
  )
}

interface DisableFormProps extends MemberProps {
  close: () => void
  done: (undo: UndoFunction) => void
}

function DisableForm({ member, close, done }: DisableFormProps) {
  const { t } = useTranslation()
  const form = useForm({
    what: 'Disabling the person failed',
    rules: { reason: required },
    async send({ reason }) {
      done(await disableMember(member.id, DisabledReason.parse(reason)))
    }
  })
  return (
    <InPlaceForm
      form={form}
      submit={t('person.access.confirmDisable')}
      look="btn-error"
      className="max-w-md gap-4"
      cancel={t('person.access.cancel')}
      close={close}
    >
      <p>{t('person.access.disableNote')}</p>
      <SelectField
        label={t('person.access.reason')}
        name="reason"
        initial=""
        options={[
          { value: '', label: t('person.access.choose') },
          ...DisabledReason.options.map(value => ({
            value,
            label: t(`person.access.reasons.${value}`)
          }))
        ]}
      />
    </InPlaceForm>
  )
}

interface LinkToPassOnProps {
  member: Pick<Member, 'id' | 'email' | 'state'>
}

function LinkToPassOn({ member: { id, email, state } }: LinkToPassOnProps) {
  const { locale, t } = useTranslation()
  const known = useStore($linkToPassOn, { ssr: 'initial' })
  const box = useRef<HTMLElement>(null)
  const isShown = known?.id === id && (state === 'invited' || state === 'waiting')
  const link = isShown ? known.link : undefined
  useEffect(() => {
    // nobody else gets the link, so it must not stay below the edge of the screen
    if (link !== undefined) box.current?.scrollIntoView({ block: 'center' })
  }, [link])
  if (!isShown) return null
  const label = t(state === 'waiting' ? 'person.link.verify' : 'person.link.invitation')
  return (
    <section
      ref={box}
      className="alert alert-info alert-outline flex flex-col items-start gap-2"
      aria-label={label}
    >
      <p className="font-semibold text-base-content">{label}</p>
      <p className="break-all font-mono text-base-content text-sm">{known.link}</p>
      <CopyButton text={known.link} label={t('person.link.copy')} />
      <p className="wrap-anywhere text-base-content">{t('person.link.use', { email })}</p>
      <p className="text-base-content">
        {t('person.link.until', { date: formatDateTime(new Date(known.until), locale) })}
      </p>
    </section>
  )
}
