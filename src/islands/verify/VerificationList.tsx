import { memo, type ReactNode, useMemo, useState } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import { buildRedirectParameter } from '../../core/pages/redirect-parameter.ts'
import { describeVerdict } from '../../core/pages/verdict-words.ts'
import { formatPercent } from '../../core/text/format.ts'
import { type Locale, localizedPath, type Translate } from '../../i18n/index.ts'
import { removeVerification, type Verification } from '../../stores/verifications.ts'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { runKeepingFocus } from '../kit/keep-focus.ts'
import { formatRetryTimeOfDay } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'
import {
  VerdictFacts,
  VerdictLabel,
  VerdictMeaning,
  VerdictSeal,
  VerdictSentence
} from './VerdictCard.tsx'

const shownAtOnce = 50

export function VerificationList({ checks }: { checks: readonly Verification[] }) {
  const { t } = useTranslation()
  const [shown, setShown] = useState(shownAtOnce)
  const hidden = checks.length - shown
  return (
    <>
      <ul className="divide-y divide-base-300">
        {checks.slice(0, shown).map(check => (
          <li key={check.id} className="py-3" data-step={check.state.step}>
            <CheckLine check={check} />
          </li>
        ))}
      </ul>
      {hidden > 0 && (
        <button
          type="button"
          className="btn btn-sm self-start"
          onClick={() => setShown(shown + shownAtOnce)}
        >
          {t('verify.more', { count: Math.min(hidden, shownAtOnce) })}
        </button>
      )}
    </>
  )
}

const CheckLine = memo(function CheckLine({ check }: { check: Verification }) {
  const { locale, t } = useTranslation()
  const { state } = check
  const name = check.name ?? t('verify.pasted')
  if (state.step === 'done') {
    const { answer } = state
    const description = describeVerdict(answer, check.subject)
    return (
      <details className="group">
        <summary className="flex cursor-pointer list-none items-center gap-3">
          <Icon
            name="chevron"
            className="size-4 text-ink-soft transition-transform group-open:rotate-90"
          />
          <VerdictSeal description={description} small className="size-8" />
          <div className="flex min-w-0 grow flex-wrap items-center gap-x-3">
            <span className="min-w-0 grow basis-40 truncate font-medium" title={name}>
              {name}
            </span>
            <VerdictLabel description={description} />
          </div>
        </summary>
        <div className="flex flex-col gap-4 pt-3 sm:ps-18">
          <p className="font-serif text-lg">
            <VerdictSentence description={description} company={answer.company} />
          </p>
          <VerdictMeaning check={check} answer={answer} />
          <VerdictFacts check={check} answer={answer} />
        </div>
      </details>
    )
  }
  if (state.step === 'failed' || state.step === 'stopped') {
    return (
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1 ps-18">
        <p className="min-w-0 grow basis-40 truncate font-medium" title={name}>
          {name}
        </p>
        {state.step === 'failed' ? (
          <p className="text-error text-sm">
            {fileErrorText(state.error, t) ?? t('verify.failed')}
          </p>
        ) : (
          <p className="text-ink-soft text-sm">{t('verify.stopped')}</p>
        )}
      </div>
    )
  }
  const { share, text } = describeVerificationProgress(check, locale, t)
  return (
    <div className="flex items-center gap-4">
      <AnimatedSeal
        state={{ kind: 'hashing', progress: share }}
        label={text}
        small
        className="size-8"
      />
      <div className="flex min-w-0 grow flex-wrap items-center gap-x-3">
        <span className="min-w-0 grow basis-40 truncate font-medium" title={name}>
          {name}
        </span>
        <span className="shrink-0 text-ink-soft text-sm">{text}</span>
      </div>
      <button
        type="button"
        className="btn btn-ghost btn-sm"
        aria-label={t('verify.stopOf', { name })}
        onClick={event => runKeepingFocus(event, () => removeVerification(check.id))}
      >
        {t('verify.stop')}
      </button>
    </div>
  )
})

export function describeVerificationProgress(
  { state, sha256 }: Verification,
  locale: Locale,
  t: Translate
): { share: number; text: string } {
  const share = state.step === 'hashing' ? state.percent / 100 : sha256 ? 1 : 0
  if (state.step === 'hashing')
    return { share, text: t('verify.hashing', { percent: formatPercent(share, locale) }) }
  return { share, text: t(state.step === 'asking' ? 'verify.asking' : 'verify.waiting') }
}

interface VerificationFailureProps {
  error: AppError
  isSignedIn: boolean
  children?: ReactNode
}

export function VerificationFailure({ error, isSignedIn, children }: VerificationFailureProps) {
  const { locale, t } = useTranslation()
  const time = useMemo(() => formatRetryTimeOfDay(error, locale), [error, locale])
  const maySignIn = error.code === 'lookup_limited' || error.code === 'unauthenticated'
  return (
    <ErrorNote error={error} text={textFor(error, time, t, isSignedIn)}>
      {maySignIn && !isSignedIn && <SignInLink />}
      {children}
    </ErrorNote>
  )
}

export function SignInLink() {
  const { locale, t } = useTranslation()
  const redirect = buildRedirectParameter({
    path: localizedPath(locale, '/verify'),
    query: '',
    hash: ''
  })
  const back = new URLSearchParams({ redirect })
  return (
    <a className="link link-secondary" href={`${localizedPath(locale, '/sign-in')}?${back}`}>
      {t('verify.signIn')}
    </a>
  )
}

function textFor(
  error: AppError,
  time: string | undefined,
  t: Translate,
  isSignedIn: boolean
): string | undefined {
  if (error.code !== 'lookup_limited' || !time) return fileErrorText(error, t)
  return t(isSignedIn ? 'verify.errors.lookup_limited_in' : 'verify.errors.lookup_limited', {
    time
  })
}

function fileErrorText({ code }: AppError, t: Translate): string | undefined {
  const isOfFile = code === 'file_empty' || code === 'file_unreadable'
  return isOfFile ? t(`verify.errors.${code}`) : undefined
}
