import { useStore } from '@nanostores/react'
import { useEffect, useRef } from 'react'
import { formatCountdown } from '../../core/text/format.ts'
import {
  $verificationRetryPause,
  canRetry,
  retryVerifications,
  stopVerifications,
  type Verification,
  type VerificationPause
} from '../../stores/verifications.ts'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { runKeepingFocus } from '../kit/keep-focus.ts'
import { ProgressBar } from '../kit/ProgressBar.tsx'
import { useNow } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { VerdictCard } from './VerdictCard.tsx'
import {
  describeVerificationProgress,
  SignInLink,
  VerificationFailure,
  VerificationList
} from './VerificationList.tsx'

interface ResultProps {
  isSignedIn: boolean
  /** False for results that are shown again when the person returns to the page. */
  isNew: boolean
}

export function VerificationResults({ checks, isSettled, ...props }: VerificationResultsProps) {
  const [first, ...others] = checks
  if (first && others.length === 0) return <Single key={first.id} check={first} {...props} />
  return <Batch checks={checks} isSettled={isSettled} {...props} />
}

interface VerificationResultsProps extends ResultProps {
  checks: readonly Verification[]
  isSettled: boolean
}

function Single({ check, isSignedIn, isNew }: ResultProps & { check: Verification }) {
  const { t } = useTranslation()
  const heading = useFocusOnce(check.state.step === 'done', isNew)
  if (check.state.step === 'done') {
    const { answer, sources } = check.state
    return <VerdictCard check={check} answer={answer} sources={sources} ref={heading} />
  }
  if (check.state.step === 'stopped') {
    return (
      <section className="sheet flex flex-col gap-4" tabIndex={-1}>
        <p className="wrap-anywhere font-medium">{check.name ?? t('verify.pasted')}</p>
        <Stopped />
      </section>
    )
  }
  if (check.state.step === 'failed') {
    return (
      <section className="sheet flex flex-col gap-4">
        <p className="wrap-anywhere font-medium">{check.name ?? t('verify.pasted')}</p>
        <VerificationFailure
          error={check.state.error}
          isSignedIn={isSignedIn}
          isReference={check.subject === 'reference'}
        >
          {canRetry(check) && <Retry />}
        </VerificationFailure>
      </section>
    )
  }
  return (
    <section className="sheet flex flex-col gap-4" tabIndex={-1}>
      <div className="flex items-center gap-4">
        <Running check={check} />
        <StopAll />
      </div>
      <VerificationPauseCountdown isSignedIn={isSignedIn} />
    </section>
  )
}

function Running({ check }: { check: Verification }) {
  const { locale, t } = useTranslation()
  const { share, text } = describeVerificationProgress(check, locale, t)
  return (
    <>
      <AnimatedSeal state={{ kind: 'hashing', progress: share }} label={text} className="size-16" />
      <div className="min-w-0 grow">
        <p className="truncate font-medium">{check.name ?? t('verify.pasted')}</p>
        <p className="text-ink-soft text-sm">{text}</p>
        <ProgressBar label={text} ratio={share} />
      </div>
    </>
  )
}

function Batch({ checks, isSettled, isSignedIn, isNew }: VerificationResultsProps) {
  const { t } = useTranslation()
  const heading = useFocusOnce(isSettled, isNew)
  const counts = count(checks)
  // all checks have the same error, because they were sent together
  const failed = checks.find(canRetry)
  const settled = counts.found + counts.listed + counts.missing + counts.failed
  const hashed = checks.filter(({ sha256, state }) => sha256 || state.step === 'failed').length
  const progress = t('verify.progress', { hashed, done: settled, total: checks.length })
  const shown = countNames.filter(
    name => counts[name] > 0 || name === 'found' || name === 'missing'
  )
  const summary = shown.map(name => t(`verify.counts.${name}`, { count: counts[name] })).join(', ')
  return (
    <section className="sheet flex flex-col gap-4" tabIndex={-1}>
      <div className="flex items-start justify-between gap-4">
        <h2 ref={heading} tabIndex={-1} className="verdict">
          {isSettled ? summary : progress}
        </h2>
        {!isSettled && <StopAll />}
      </div>
      {!isSettled && <VerificationPauseCountdown isSignedIn={isSignedIn} />}
      {!isSettled && (
        <ProgressBar label={progress} ratio={(hashed + settled) / (2 * checks.length)} />
      )}
      {isSettled && failed?.state.step === 'failed' && (
        <VerificationFailure error={failed.state.error} isSignedIn={isSignedIn}>
          <Retry />
        </VerificationFailure>
      )}
      {isSettled && failed?.state.step === 'stopped' && <Stopped />}
      <VerificationList checks={checks} />
    </section>
  )
}

function StopAll() {
  const { t } = useTranslation()
  return (
    <button
      type="button"
      className="btn btn-outline btn-sm shrink-0"
      onClick={event => runKeepingFocus(event, stopVerifications)}
    >
      {t('verify.stop')}
    </button>
  )
}

function Stopped() {
  const { t } = useTranslation()
  return (
    <>
      <p role="status">{t('verify.stoppedText')}</p>
      <Retry word="goOn" />
    </>
  )
}

function Retry({ word = 'retry' }: { word?: 'retry' | 'goOn' }) {
  const { t } = useTranslation()
  return (
    <div className="print:hidden">
      <button
        type="button"
        className="btn btn-outline btn-sm"
        onClick={event => runKeepingFocus(event, () => void retryVerifications())}
      >
        {t(`verify.${word}`)}
      </button>
    </div>
  )
}

// results that are shown again do not take the focus
function useFocusOnce(isThere: boolean, isNew: boolean) {
  const heading = useRef<HTMLHeadingElement>(null)
  const wasThere = useRef(isThere && !isNew)
  useEffect(() => {
    if (!isThere || wasThere.current) return
    wasThere.current = true
    heading.current?.focus()
  }, [isThere])
  return heading
}

const countNames = ['found', 'listed', 'missing', 'failed'] as const
const countOf = {
  authentic: 'found',
  known_to_register: 'listed',
  not_found: 'missing',
  // that is no answer
  indeterminate: 'failed'
} as const

function count(checks: readonly Verification[]): Record<(typeof countNames)[number], number> {
  const counts = { found: 0, listed: 0, missing: 0, failed: 0 }
  for (const { state } of checks) {
    if (state.step === 'failed' || state.step === 'stopped') counts.failed += 1
    else if (state.step === 'done') counts[countOf[state.answer.verdict]] += 1
  }
  return counts
}

interface VerificationPauseCountdownProps {
  isSignedIn: boolean
}

function VerificationPauseCountdown(props: VerificationPauseCountdownProps) {
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
