import { useStore } from '@nanostores/react'
import { useEffect, useRef } from 'react'
import { formatPercent } from '../../core/text/format.ts'
import { localizedPath } from '../../i18n/index.ts'
import { $session } from '../../stores/sessions.ts'
import {
  $shownBatch,
  $verifications,
  clearVerifications,
  hideVerificationResults,
  isAwaitingResult,
  prepareVerifications,
  type Verification,
  verifyFiles
} from '../../stores/verifications.ts'
import { DropZone } from '../files/DropZone.tsx'
import { UnreadableFiles } from '../files/UnreadableFiles.tsx'
import { useOnFilesReceived } from '../files/use-on-files-received.ts'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { useLazyComponent } from '../kit/LazyComponent.tsx'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { PasteFingerprints } from './PasteFingerprints.tsx'

interface VerifyProps {
  company: string
  /** Fingerprints per minute that one network may verify without signing in. */
  perMinute: number
}

export const Verify = withTranslation(function Verify({ company, perMinute }: VerifyProps) {
  const { locale, t } = useTranslation()
  const checks = useStore($verifications, { ssr: 'initial' })
  const session = useStore($session, { ssr: 'initial' })

  useEffect(() => {
    // Safari has no idle callbacks
    if ('requestIdleCallback' in window) {
      const waiting = requestIdleCallback(() => void prepareVerifications())
      return () => cancelIdleCallback(waiting)
    }
    const waiting = setTimeout(() => void prepareVerifications(), 500)
    return () => clearTimeout(waiting)
  }, [])

  const unreadable = useOnFilesReceived('verify', files => void verifyFiles(files))

  const batch = useStore($shownBatch, { ssr: 'initial' })
  // the batch that was shown before the person left the page and came back
  const former = useRef($shownBatch.get())
  const current = checks.filter(check => check.batch === batch)
  const earlier = checks.filter(check => check.batch !== batch)
  const isBlank = current.length === 0
  // loads the code after the page, before anybody can choose a file
  const answers = useLazyComponent(
    async () => (await import('./VerificationResults.tsx')).VerificationResults
  )
  const list = useLazyComponent(
    async () => (await import('./VerificationList.tsx')).VerificationList
  )
  const references = useLazyComponent(
    async () => (await import('./VerifyReference.tsx')).VerifyReference
  )
  const { zone, bringBack } = useZone(isBlank)
  const [only] = current.length === 1 ? current : []
  const isSettled = !current.some(isAwaitingResult)
  const hasAnswer = current.some(({ state }) => state.step === 'done')
  const isSignedIn = session.status === 'in'
  const isLimited = !isSignedIn && !isSettled && current.length > perMinute
  return (
    <div className="flex flex-col gap-6" data-state={stateOf(current)}>
      {!isBlank && (
        <button
          type="button"
          className="btn btn-outline btn-sm self-end print:hidden"
          onClick={bringBack}
        >
          {t('verify.another')}
        </button>
      )}
      {/* hidden and not gone: what was typed or chosen meanwhile is kept */}
      <div ref={zone} hidden={!isBlank} className="print:hidden">
        <DropZone
          to="verify"
          label={t('verify.zone')}
          touchLabel={t('verify.zonePhone')}
          hint={t('verify.privacy')}
          multiple
          onFiles={files => void verifyFiles(files)}
        >
          <AnimatedSeal state={{ kind: 'idle' }} className="size-20" small />
        </DropZone>
      </div>
      <UnreadableFiles names={unreadable} />
      {isLimited && <p className="text-sm">{t('verify.limit', { limit: perMinute })}</p>}
      {!isBlank && answers.Component && (
        <answers.Component
          key={batch}
          checks={current}
          isSettled={isSettled}
          isSignedIn={isSignedIn}
          isNew={batch !== former.current}
        />
      )}
      {!isBlank && answers.error && (
        <p role="alert">
          {t('verify.pause.away')}{' '}
          <button type="button" className="link" onClick={() => void answers.retry()}>
            {t('verify.retry')}
          </button>
        </p>
      )}
      {isSignedIn && isSettled && hasAnswer && (
        <a className="link link-secondary print:hidden" href={localizedPath(locale, '/history')}>
          {t('verify.history')}
        </a>
      )}
      {only && only.subject !== 'reference' && <Steps check={only} company={company} />}
      <PasteFingerprints />
      {isBlank && <Steps check={undefined} company={company} />}
      {/* last, because it appears later than what is above */}
      {references.Component && <references.Component />}
      {earlier.length > 0 && list.Component && (
        <section className="sheet flex flex-col gap-2 print:hidden">
          <div className="flex flex-wrap items-center justify-between gap-4">
            <h2 className="font-semibold text-lg">{t('verify.earlier')}</h2>
            <button type="button" className="btn btn-outline btn-sm" onClick={clearVerifications}>
              {t('verify.forget')}
            </button>
          </div>
          <list.Component checks={earlier} />
        </section>
      )}
    </div>
  )
})

function useZone(isBlank: boolean) {
  const zone = useRef<HTMLDivElement>(null)
  const isWanted = useRef(false)
  useEffect(() => {
    if (!isBlank || !isWanted.current) return
    isWanted.current = false
    zone.current?.querySelector('input')?.focus()
  }, [isBlank])
  const bringBack = () => {
    isWanted.current = true
    hideVerificationResults()
  }
  return { zone, bringBack }
}

function Steps({ check, company }: { check: Verification | undefined; company: string }) {
  const { locale, t } = useTranslation()
  const step = check?.state.step ?? 'waiting'
  const isHashed = check?.sha256 !== undefined
  const hashed =
    check?.subject === 'fingerprint' ? 'verify.steps.hash.pasted' : 'verify.steps.hash.done'
  const percent = check?.state.step === 'hashing' ? check.state.percent : 0
  const hash = isHashed
    ? t(hashed)
    : step === 'hashing'
      ? t('verify.steps.hash.doing', { percent: formatPercent(percent / 100, locale) })
      : t('verify.steps.hash.todo')
  const asked = step === 'done' ? 'done' : step === 'asking' ? 'doing' : 'todo'
  return (
    <ol
      aria-label={t('verify.steps.label')}
      className="flex flex-col gap-2 text-ink-soft text-sm print:hidden"
    >
      <Step state={isHashed ? 'done' : step === 'hashing' ? 'doing' : 'todo'} text={hash} />
      <Step state={asked} text={t(`verify.steps.ask.${asked}`, { company })} />
    </ol>
  )
}

function Step({ state, text }: { state: 'todo' | 'doing' | 'done'; text: string }) {
  return (
    <li className={`flex items-start gap-3 ${state === 'doing' ? 'text-base-content' : ''}`}>
      <svg
        viewBox="0 0 16 16"
        aria-hidden="true"
        className="mt-0.5 size-4 shrink-0"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
      >
        <circle cx="8" cy="8" r="6.5" strokeDasharray={state === 'todo' ? '0.1 2.5' : undefined} />
        {state === 'doing' && <circle cx="8" cy="8" r="2.5" fill="currentColor" />}
        {state === 'done' && <path d="M5 8.2 7.2 10.4 11 6" />}
      </svg>
      {text}
    </li>
  )
}

function stateOf(current: readonly Verification[]): string {
  const steps = new Set(current.map(({ state }) => state.step))
  if (steps.size === 0) return 'empty'
  if (steps.has('waiting') || steps.has('hashing') || steps.has('asking')) return 'loading'
  if (!steps.has('failed') && !steps.has('stopped')) return 'ready'
  return steps.has('done') ? 'partial' : 'error'
}
