import { type FormEvent, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { UserInfo } from '../../contract/users.ts'
import { rename } from '../../stores/users.ts'
import { fieldSentence, usernameRule } from '../forms/account-form.ts'
import { useForm } from '../forms/use-form.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Field } from '../kit/Field.tsx'
import { useWords } from '../kit/use-words.ts'

interface ProfileFormProps {
  user: UserInfo
}

export function ProfileForm({ user }: ProfileFormProps) {
  const { t } = useWords()
  const form = useForm({ username: usernameRule })
  const [state, setState] = useState<'idle' | 'working' | 'saved' | AppError>('idle')

  const send = async (event: FormEvent) => {
    event.preventDefault()
    const values = form.submit()
    if (!values || state === 'working') return
    setState('working')
    try {
      await rename(values['username'] ?? '')
      setState('saved')
    } catch (cause) {
      setState(asAppError(cause, 'Changing the name failed'))
    }
  }

  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby="profile">
      <div>
        <h2 id="profile" className="section-title">
          {t('me.profile')}
        </h2>
        <p className="meta break-all">{user.email}</p>
      </div>
      <form {...form.props} onSubmit={send} className="flex flex-col gap-4">
        <Field
          label={t('account.username')}
          name="username"
          autoComplete="nickname"
          spellCheck={false}
          initial={user.username}
          hint={t('account.usernameHint')}
          error={fieldSentence(form.errors, 'username', t)}
        />
        {typeof state === 'object' && <ErrorNote error={state} />}
        <div className="flex flex-wrap items-center gap-4">
          <button
            type="submit"
            className="btn btn-outline"
            aria-disabled={state === 'working'}
            onClick={() => setState(now => (now === 'saved' ? 'idle' : now))}
          >
            {t('me.save')}
          </button>
          <p role="status" className="text-success empty:hidden">
            {state === 'saved' ? t('me.saved') : ''}
          </p>
        </div>
      </form>
    </section>
  )
}
