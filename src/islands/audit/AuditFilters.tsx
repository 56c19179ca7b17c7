import { useState } from 'react'
import type { Translate } from '../../i18n/index.ts'
import { fetchAuditExport } from '../../stores/admin/audit-export.ts'
import { findPeople } from '../../stores/admin/item-search.ts'
import { downloadFile } from '../files/download-file.ts'
import { Combobox } from '../forms/Combobox.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { DayRangeFields, DayRangeWarning } from '../lists/DayRange.tsx'
import { ExportButton } from '../lists/ExportButton.tsx'
import { LabeledFilter } from '../lists/FilterFields.tsx'
import { withoutEmptyFilters } from '../lists/use-address.ts'
import { type AuditQuery, type AuditQueryChange, auditFilterOf } from './audit-query.ts'
import { actionsByItemKind, parseAuditAction } from './audit-translator.ts'

interface AuditFiltersProps {
  address: AuditQuery
  company: string
  names: ReadonlyMap<string, string>
  onChange: (address: AuditQuery) => void
}

export function AuditFilters({ address, company, names, onChange }: AuditFiltersProps) {
  const { t } = useTranslation()
  // a person may be chosen who made no change, so the list does not name them
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map())
  const set = (change: AuditQueryChange) => onChange(withoutEmptyFilters({ ...address, ...change }))
  const { person, target, action } = address
  const nameOf = (id: string) => names.get(id) ?? chosen.get(id)
  const search = async (text: string) => {
    const found = await findPeople(text)
    return found.map(({ id, username, email }) => ({
      item: { id, name: username },
      id,
      label: username,
      note: email
    }))
  }
  const save = async () => {
    const content = await fetchAuditExport(company, auditFilterOf(address))
    downloadFile(content, t('audit.export.fileName'), 'csv')
  }
  return (
    <search className="flex flex-col gap-3" aria-label={t('audit.filters.label')}>
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-4">
        <Combobox
          label={t('audit.filters.person')}
          search={search}
          choose={({ id, name }) => {
            setChosen(new Map([[id, name]]))
            set({ person: id })
          }}
        />
        <LabeledFilter label={t('audit.filters.action')}>
          {id => (
            <select
              id={id}
              className="select w-full"
              value={action ?? ''}
              onChange={event => set({ action: parseAuditAction(event.target.value) })}
            >
              <option value="">{t('audit.filters.all')}</option>
              {actionsByItemKind.map(([kind, actions]) => (
                <optgroup key={kind} label={kindLabel(kind, t)}>
                  {actions.map(each => (
                    <option key={each} value={each}>
                      {t(`audit.choices.${each}`)}
                    </option>
                  ))}
                </optgroup>
              ))}
            </select>
          )}
        </LabeledFilter>
        <DayRangeFields address={address} onChange={set} />
      </div>
      <div className="flex flex-wrap items-center gap-3">
        {person !== undefined && (
          <Chip
            label={named(nameOf(person), 'with', t)}
            onRemove={() => set({ person: undefined })}
          />
        )}
        {target !== undefined && (
          <Chip
            label={named(nameOf(target), 'of', t)}
            onRemove={() => set({ target: undefined })}
          />
        )}
        {Object.keys(address).length > 0 && (
          <button
            type="button"
            className="btn btn-ghost btn-sm text-secondary"
            onClick={() => onChange({})}
          >
            {t('audit.filters.clear')}
          </button>
        )}
        <ExportButton save={save} className="btn-sm ms-auto" />
      </div>
      <DayRangeWarning address={address} />
    </search>
  )
}

function named(name: string | undefined, filter: 'with' | 'of', t: Translate): string {
  return name === undefined
    ? t(`audit.filters.${filter}Unknown`)
    : t(`audit.filters.${filter}`, { name })
}

function kindLabel(kind: string, t: Translate): string {
  // as: the kinds are the first words of the actions, and a test checks that each has its label
  return t(`audit.kinds.${kind}` as 'audit.kinds.group')
}

function Chip({ label, onRemove }: { label: string; onRemove: () => void }) {
  const { t } = useTranslation()
  return (
    <button
      type="button"
      className="btn btn-outline btn-sm h-auto min-h-8 max-w-full font-normal"
      aria-label={t('audit.filters.remove', { filter: label })}
      onClick={onRemove}
    >
      <span className="wrap-anywhere">{label}</span>
      <span aria-hidden="true">×</span>
    </button>
  )
}
