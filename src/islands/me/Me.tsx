import { useStore } from '@nanostores/react'
import { type Locale, translator, type Words } from '../../i18n/index.ts'
import { $user } from '../../stores/users.ts'
import { lazyPart } from '../kit/LazyPart.tsx'
import { useWaiting } from '../kit/time.ts'
import { Preferences } from './Preferences.tsx'
import { ProfileForm } from './ProfileForm.tsx'
import { UsageMeters } from './UsageMeters.tsx'

interface MeProps {
  locale: Locale
  /** Namespaces `me`, `account`, `shell`, `errors`, `fields` and `common`. */
  words: Words
}

const AccountForms = lazyPart(async () => (await import('./AccountForms.tsx')).AccountForms)

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
      {user && <AccountForms user={user} locale={locale} t={t} />}
    </div>
  )
}
