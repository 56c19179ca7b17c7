import { useStore } from '@nanostores/react'
import { useEffect, useState } from 'react'
import type { DomainDetails } from '../../contract/domains.ts'
import { type DnsRecord, dnsRecords } from '../../core/dns-records.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { CopyButton } from '../kit/CopyButton.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface DomainRecordsProps {
  domain: DomainDetails
  /** Empty if the operator has set none. */
  publicAddresses: readonly string[]
  onDone?: () => void
}

export function DomainRecords({ domain, publicAddresses, onDone }: DomainRecordsProps) {
  const { t } = useTranslation()
  const page = usePageHost()
  const isLocal = page !== undefined && /(?:^|\.)localhost$/.test(page)
  const user = useStore($user, { ssr: 'initial' })
  const { host, proof, state } = domain
  const isOwn = user?.company.id === companyIdOfPage()
  const records = dnsRecords({
    host,
    proof,
    ...serverOf(publicAddresses, isLocal ? undefined : page)
  })
  return (
    <section className="sheet flex flex-col gap-6" aria-labelledby="domain-records">
      <div>
        <h2 id="domain-records" tabIndex={-1} className="section-title">
          {t('domains.records.title')}
        </h2>
        <p className="prose-width wrap-anywhere text-ink-soft">
          {proof
            ? t('domains.records.text', { zone: proof.zone })
            : t('domains.records.noProof', { host })}
        </p>
        {isLocal && isOwn && proof && state === 'unverified' && (
          <p className="prose-width wrap-anywhere mt-2 text-ink-soft">
            {t('domains.records.local', { host })}
          </p>
        )}
      </div>
      <ol className="flex flex-col divide-y divide-base-300">
        {records.map(record => (
          <li
            key={`${record.type} ${record.name} ${record.value}`}
            className="flex flex-col gap-3 py-5 first:pt-0 last:pb-0"
          >
            <h3 className="font-semibold">{t(`domains.records.purpose.${record.purpose}`)}</h3>
            <RecordRows record={record} />
          </li>
        ))}
      </ol>
      {onDone && (
        <button type="button" className="btn btn-primary self-start" onClick={onDone}>
          {t('domains.records.done')}
        </button>
      )}
    </section>
  )
}

function serverOf(publicAddresses: readonly string[], page: string | undefined) {
  const name = publicAddresses.find(each => /[a-z]$/i.test(each) && !each.includes(':'))
  if (name !== undefined) return { server: name }
  return publicAddresses.length > 0
    ? { server: undefined, addresses: publicAddresses }
    : { server: page }
}

function RecordRows({ record }: { record: DnsRecord }) {
  const { t } = useTranslation()
  const { type, relative, name, value } = record
  const rows = [
    ...(relative === undefined
      ? []
      : [
          { label: t('domains.records.name'), text: relative, copy: t('domains.records.copyName') }
        ]),
    { label: t('domains.records.full'), text: name, copy: t('domains.records.copyFull') },
    ...(value === undefined
      ? []
      : [{ label: t('domains.records.value'), text: value, copy: t('domains.records.copyValue') }])
  ]
  return (
    <dl className="grid items-baseline gap-x-6 gap-y-2 sm:grid-cols-[minmax(9rem,auto)_1fr]">
      <dt className="text-ink-soft">{t('domains.records.type')}</dt>
      <dd className="font-mono text-sm">{type}</dd>
      {rows.map(({ label, text, copy }) => (
        <div key={label} className="contents">
          <dt className="text-ink-soft">{label}</dt>
          <dd className="flex min-w-0 flex-wrap items-baseline gap-x-4">
            <span className="fingerprint min-w-0" translate="no">
              {text}
            </span>
            <CopyButton text={text} label={copy} />
          </dd>
        </div>
      ))}
      {value === undefined && (
        <div className="contents">
          <dt className="text-ink-soft">{t('domains.records.value')}</dt>
          <dd>{t('domains.records.address')}</dd>
        </div>
      )}
    </dl>
  )
}

function usePageHost(): string | undefined {
  const [host, setHost] = useState<string>()
  useEffect(() => setHost(location.hostname), [])
  return host
}
