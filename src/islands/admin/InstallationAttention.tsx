import { useStore } from '@nanostores/react'
import { useRef, useState } from 'react'
import type { AttentionOfAllCompanies as Found } from '../../contract/overview.ts'
import {
  $attentionOfAllCompanies,
  loadAttentionOfAllCompanies
} from '../../stores/admin/overview.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { AttentionCard, AttentionItems } from './AttentionCard.tsx'

const firstShown = 3

const check = () => void loadAttentionOfAllCompanies()

export function InstallationAttention() {
  const { t } = useTranslation()
  const state = useStore($attentionOfAllCompanies, { ssr: 'initial' })
  const found = state.status === 'ready' ? state.attention : undefined
  const isInOrder =
    found !== undefined &&
    [found.items, found.unchecked, found.companies].every(({ length }) => length === 0) &&
    found.skipped === 0
  return (
    <AttentionCard
      state={state}
      loading={t('companies.attention.loading')}
      check={check}
      isInOrder={isInOrder}
    >
      {found && <Findings found={found} />}
    </AttentionCard>
  )
}

function Findings({ found }: { found: Found }) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const { companies, skipped, has_mail_server: hasMailServer } = found
  const shown = isOpen ? companies : companies.slice(0, firstShown)
  const isInstallation = found.items.length + found.unchecked.length > 0
  const open = () => {
    setOpen(true)
    // the button that was pressed is gone
    requestAnimationFrame(() => {
      list.current?.querySelectorAll<HTMLElement>('h3 a')[firstShown]?.focus()
    })
  }
  return (
    <>
      {isInstallation && (
        <div>
          <h3 className="font-semibold">{t('companies.attention.installation')}</h3>
          <AttentionItems found={found} company={undefined} hasMailServer={hasMailServer} />
        </div>
      )}
      {companies.length > 0 && (
        <div ref={list} className="flex flex-col gap-4">
          {shown.map(({ company, ...its }) => (
            <CompanyFindings
              key={company.id}
              company={company}
              found={its}
              hasMailServer={hasMailServer}
            />
          ))}
        </div>
      )}
      {shown.length < companies.length && (
        <button type="button" className="btn btn-outline btn-sm self-start" onClick={open}>
          {t('companies.attention.more', { count: companies.length - shown.length })}
        </button>
      )}
      {skipped > 0 && <p>{t('companies.attention.skipped', { count: skipped })}</p>}
    </>
  )
}

interface CompanyFindingsProps {
  company: Found['companies'][number]['company']
  found: Pick<Found, 'items' | 'unchecked'>
  hasMailServer: boolean
}

function CompanyFindings({ company: { id, name }, found, hasMailServer }: CompanyFindingsProps) {
  const { locale } = useTranslation()
  return (
    <div>
      <h3 className="wrap-anywhere font-semibold">
        <a className="link" href={pageHref(locale, 'company', { company: id })}>
          {name}
        </a>
      </h3>
      <AttentionItems found={found} company={id} hasMailServer={hasMailServer} />
    </div>
  )
}
