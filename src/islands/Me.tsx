import { useStore } from '@nanostores/react'
import { type Locale, translator, type Words } from '../i18n/index.ts'
import { $user } from '../stores/users.ts'
import { DeleteAccount } from './parts/DeleteAccount.tsx'
import { EmailForm } from './parts/EmailForm.tsx'
import { PasswordForm } from './parts/PasswordForm.tsx'
import { Preferences } from './parts/Preferences.tsx'
import { ProfileForm } from './parts/ProfileForm.tsx'
import { SessionList } from './parts/SessionList.tsx'
import { useWaiting } from './parts/time.ts'
import { UsageMeters } from './parts/UsageMeters.tsx'

interface MeProps {
  locale: Locale
  /** Namespaces `me`, `account`, `shell`, `errors` and `common`. */
  words: Words
}

/** What a person sees and changes of their own account. */
export function Me({ locale, words }: MeProps) {
  const t = translator(locale, words)
  const user = useStore($user, { ssr: 'initial' })
  const waiting = useWaiting(user === undefined)
  return (
    <div className="flex flex-col gap-6" data-state={user ? 'ready' : 'loading'}>
      <p role="status" className="text-ink-soft empty:hidden">
        {waiting === 'text' || waiting === 'slow' ? t('common.loading') : ''}
      </p>
      {user && <ProfileForm user={user} locale={locale} t={t} />}
      {user?.usage && <UsageMeters usage={user.usage} locale={locale} t={t} />}
      <Preferences locale={locale} t={t} />
      {user && <PasswordForm user={user} locale={locale} t={t} />}
      {user && <EmailForm user={user} locale={locale} t={t} />}
      {user && <SessionList locale={locale} t={t} />}
      {user && <DeleteAccount user={user} locale={locale} t={t} />}
    </div>
  )
}
