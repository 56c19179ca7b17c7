import type { OwnAccount } from '../../contract/users.ts'
import { changeUsername } from '../../stores/signed-in-user.ts'
import { usernameRule } from '../forms/account-form.ts'
import { Field } from '../forms/Field.tsx'
import { Form } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { useTranslation } from '../kit/use-translation.ts'

export function ProfileForm({ user }: { user: OwnAccount }) {
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
