import { useStore } from '@nanostores/react'
import type { OwnAccount } from '../../contract/users.ts'
import { $user, changeUsername } from '../../stores/signed-in-user.ts'
import { usernameRule } from '../forms/account-form.ts'
import { Field } from '../forms/Field.tsx'
import { Form } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { useWaitPhase } from '../kit/time.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { Preferences } from './Preferences.tsx'

// not needed until the signed-in person is known
const UsageMeters = lazyComponent(async () => (await import('./UsageMeters.tsx')).UsageMeters)
const AccountForms = lazyComponent(async () => (await import('./AccountForms.tsx')).AccountForms)

export const AccountScreen = withTranslation(function AccountScreen() {
  const { t } = useTranslation()
  const user = useStore($user, { ssr: 'initial' })
  const waiting = useWaitPhase(user === undefined)
  return (
    <div className="flex flex-col gap-6" data-state={user ? 'ready' : 'loading'}>
      <p role="status" className="text-ink-soft empty:hidden">
        {waiting === 'text' || waiting === 'slow' ? t('common.loading') : ''}
      </p>
      {user && <ProfileForm user={user} />}
      {user?.usage && <UsageMeters usage={user.usage} />}
      <Preferences />
      {user && <AccountForms user={user} />}
    </div>
  )
})

function ProfileForm({ user }: { user: OwnAccount }) {
  const { t } = useTranslation()
  const form = useForm({
    what: 'Changing the name failed',
    rules: { username: usernameRule },
    send: ({ username = '' }) => changeUsername(username)
  })
  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby="profile">
      <div>
        <h2 id="profile" className="section-title">
          {t('me.profile')}
        </h2>
        <p className="meta break-all">{user.email}</p>
      </div>
      <Form form={form} submit={t('me.save')} look="btn-outline self-start" done={t('me.saved')}>
        <Field
          label={t('account.username')}
          name="username"
          autoComplete="nickname"
          spellCheck={false}
          initial={user.username}
          hint={t('account.usernameHint')}
        />
      </Form>
    </section>
  )
}
