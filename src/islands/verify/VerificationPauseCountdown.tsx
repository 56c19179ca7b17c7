import { useStore } from '@nanostores/react'
import { formatCountdown } from '../../core/text/format.ts'
import { $verificationRetryPause, type VerificationPause } from '../../stores/verifications.ts'
import { useNow } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { SignInLink } from './VerificationList.tsx'

interface VerificationPauseCountdownProps {
  isSignedIn: boolean
}

export function VerificationPauseCountdown(props: VerificationPauseCountdownProps) {
  const pause = useStore($verificationRetryPause, { ssr: 'initial' })
  return pause ? <Countdown {...props} pause={pause} /> : null
}

function Countdown({
  pause,
  isSignedIn
}: VerificationPauseCountdownProps & { pause: VerificationPause }) {
  const { t } = useTranslation()
  const now = useNow(1000)
  const { error, until } = pause
  const isLimit = error.status === 429
  const seconds = Math.max(0, Math.ceil((until - (now ?? Date.now())) / 1000))
  return (
    <div className="flex flex-wrap gap-x-2 text-sm" data-pause={error.code}>
      <p role="status">{t(isLimit ? 'verify.pause.limited' : 'verify.pause.away')}</p>
      {/* the seconds are not read aloud, only their name when they are asked for */}
      <p role="timer" className="tabular">
        {t('verify.pause.next', { time: formatCountdown(seconds) })}
      </p>
      {isLimit && !isSignedIn && <SignInLink />}
    </div>
  )
}
