import { useStore } from '@nanostores/react'
import { $user } from '../../stores/signed-in-user.ts'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { useWaitPhase } from '../kit/time.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { Preferences } from './Preferences.tsx'
import { ProfileForm } from './ProfileForm.tsx'

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
