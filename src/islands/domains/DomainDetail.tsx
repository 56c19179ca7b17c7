import { useStore } from '@nanostores/react'
import { useEffect, useRef } from 'react'
import type { DomainDetails } from '../../contract/domains.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { $domain, $themes, openDomain } from '../../stores/admin/domains.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { RecentChanges } from '../audit/RecentChanges.tsx'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { useOnFocusedElementRemoved } from '../kit/use-on-focused-element-removed.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { useListAddress } from '../lists/use-address.ts'
import { ChangePrimaryDomain } from './ChangePrimaryDomain.tsx'
import { DeleteDomain } from './DeleteDomain.tsx'
import { DomainCheck } from './DomainCheck.tsx'
import { DomainRecords } from './DomainRecords.tsx'
import { DomainSettings } from './DomainSettings.tsx'
import { DomainStateMark } from './DomainStateMark.tsx'
import { GoLiveStep } from './GoLiveStep.tsx'
import {
  type DomainStep,
  formatDomainStepQuery,
  parseDomainStep,
  WizardSteps
} from './WizardSteps.tsx'

const ThemeEditor = lazyComponent<{ domain: DomainDetails }>(
  async () => (await import('./ThemeEditor.tsx')).ThemeEditor
)

const MoveDomainToCompany = lazyComponent<{ domain: DomainDetails }>(
  async () => (await import('./MoveDomainToCompany.tsx')).MoveDomainToCompany
)

export const DomainDetail = withTranslation(function DomainDetail({
  publicAddresses
}: {
  publicAddresses: readonly string[]
}) {
  const { t } = useTranslation()
  return (
    <DetailFrame
      store={$domain}
      open={openDomain}
      param="domain"
      list="domains"
      missing={key => t(`domains.missing.${key}`)}
      nameOf={({ host }) => host}
    >
      {domain => <Ready domain={domain} publicAddresses={publicAddresses} />}
    </DetailFrame>
  )
})

interface DomainProps {
  domain: DomainDetails
}

interface RecordsProps extends DomainProps {
  /** Empty if the operator has set none. */
  publicAddresses: readonly string[]
}

function Ready({ domain, publicAddresses }: RecordsProps) {
  const { address, change } = useListAddress(parseDomainStep, formatDomainStepQuery)
  const top = useRef<HTMLDivElement>(null)
  const isOpening = useRef(false)
  // a domain that is served needs no steps, unless the person is in the middle of them
  const isTaken = domain.state === 'taken'
  const step = address?.step ?? (domain.state === 'unverified' ? 'records' : undefined)
  const open = (next: DomainStep | undefined) => {
    change(next ? { step: next } : {})
    isOpening.current = true
  }
  // the button that was pressed is gone, and the heading of a step may still have to be loaded
  useEffect(() => {
    if (!isOpening.current) return
    isOpening.current = false
    const heading = top.current?.querySelector('h2') ?? top.current
    heading?.focus()
  })
  // the steps end when another company proves the host, and the check when DNS proves the domain
  useOnFocusedElementRemoved(top, () => top.current?.focus())
  return (
    <div ref={top} tabIndex={-1} className="flex flex-col gap-6">
      {address && isTaken && <Taken domain={domain} publicAddresses={publicAddresses} />}
      {address && !isTaken && step && (
        <Wizard domain={domain} publicAddresses={publicAddresses} step={step} open={open} />
      )}
      {address && !isTaken && !step && <Proved domain={domain} publicAddresses={publicAddresses} />}
      <PasswordPrompt />
    </div>
  )
}

interface WizardProps extends RecordsProps {
  step: DomainStep
  open: (step: DomainStep | undefined) => void
}

function Wizard({ domain, publicAddresses, step, open }: WizardProps) {
  return (
    <>
      <WizardSteps step={step} open={open} />
      {step === 'records' && (
        <DomainRecords
          domain={domain}
          publicAddresses={publicAddresses}
          onDone={() => open('check')}
        />
      )}
      {step === 'check' && (
        <DomainCheck
          domain={domain}
          toRecords={() => open('records')}
          onDone={() => open('look')}
        />
      )}
      {step === 'look' && <ThemeEditor domain={domain} />}
      {step === 'look' && <NextButton onClick={() => open('live')} />}
      {step === 'live' && (
        <GoLiveStep domain={domain} toCheck={() => open('check')} onDone={() => open(undefined)} />
      )}
      {domain.state === 'unverified' && <DeleteDomain domain={domain} />}
    </>
  )
}

function NextButton({ onClick }: { onClick: () => void }) {
  const { t } = useTranslation()
  return (
    <button type="button" className="btn btn-outline self-start" onClick={onClick}>
      {t('domains.steps.next')}
    </button>
  )
}

function Taken({ domain, publicAddresses }: RecordsProps) {
  const { locale, t } = useTranslation()
  const { host, proof, quarantined_since } = domain
  const since = quarantined_since && formatDateTime(new Date(quarantined_since), locale)
  return (
    <>
      <section className="sheet flex flex-col gap-2" role="status">
        <p>
          <DomainStateMark state="taken">{t('domains.states.taken')}</DomainStateMark>
        </p>
        <p className="prose-width wrap-anywhere">
          {t('domains.taken.text', { host, name: proof?.name ?? host })}
        </p>
        {since && (
          <p className="prose-width wrap-anywhere">{t('domains.taken.lost', { host, since })}</p>
        )}
      </section>
      <DomainRecords domain={domain} publicAddresses={publicAddresses} />
      {since && <Contents domain={domain} />}
      <DeleteDomain domain={domain} />
    </>
  )
}

function Proved({ domain, publicAddresses }: RecordsProps) {
  const { t } = useTranslation()
  const { state } = domain
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <DomainStateMark state={state}>{t(`domains.states.${state}`)}</DomainStateMark>
        {domain.primary && <span className="meta">{t('domains.primaryNote')}</span>}
      </p>
      {(state === 'failing' || state === 'quarantined') && (
        <>
          <DomainCheck domain={domain} />
          <DomainRecords domain={domain} publicAddresses={publicAddresses} />
        </>
      )}
      <Contents domain={domain} />
      <DeleteDomain domain={domain} />
    </>
  )
}

function Contents({ domain }: DomainProps) {
  const user = useStore($user, { ssr: 'initial' })
  const themes = useStore($themes, { ssr: 'initial' })
  const published = themes.status === 'ready' ? themes.item.published.number : undefined
  return (
    <>
      <DomainSettings key={domain.id} domain={domain} />
      <ThemeEditor domain={domain} />
      <ChangePrimaryDomain domain={domain} />
      {user?.permissions.includes('operator') && <MoveDomainToCompany domain={domain} />}
      <RecentChanges target={domain.id} shown={[domain, published]} />
    </>
  )
}
