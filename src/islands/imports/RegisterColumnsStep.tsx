import { useStore } from '@nanostores/react'
import { type ReactNode, useId } from 'react'
import type { DataSource } from '../../contract/data-sources.ts'
import { registerLimits } from '../../contract/kit/limits.ts'
import type { OpenedFile } from '../../stores/imports/import-file.ts'
import { type DraftColumn, findColumnFaults, isKey } from '../../stores/imports/register-columns.ts'
import {
  $registerColumns,
  addRegisterColumn,
  setKeyColumn,
  startRegisterImport,
  tableOf
} from '../../stores/imports/register-imports.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { Combobox } from '../forms/Combobox.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { clip, columnLetters } from './FileFormatStep.tsx'
import { RegisterColumnEditor } from './RegisterColumnEditor.tsx'
import { RegisterMode } from './RegisterMode.tsx'

interface RegisterColumnsStepProps {
  source: DataSource
  file: OpenedFile
  onBack: () => void
  onCreated: (id: string) => void
}

const mostFound = 8

export function RegisterColumnsStep(props: RegisterColumnsStepProps) {
  const { source, file, onBack, onCreated } = props
  const { t } = useTranslation()
  const columns = useStore($registerColumns, { ssr: 'initial' })
  const { headings, rows } = tableOf(file)
  const names = headings.map(
    (heading, at) => heading || t('imports.wizard.read.column', { name: columnLetters(at) })
  )
  const exampleOf = (at: number) => clip(rows.find(row => row[at]?.trim())?.[at]?.trim() ?? '')
  const key = columns.find(isKey)
  const use = key?.use === 'fingerprint' ? 'fingerprint' : 'reference'
  const faults = findColumnFaults(columns)
  const checks = columns.filter(each => each.use === 'check')
  const starting = useAction({
    what: 'Starting the import failed',
    send: async (_: undefined, idempotencyKey: string) =>
      onCreated(await startRegisterImport(source.id, idempotencyKey))
  })

  const findFree = async (text: string) => {
    const query = text.toLowerCase()
    const found = names.flatMap((name, at) => {
      const isFree = columns.every(({ index }) => index !== at)
      return isFree && name.toLowerCase().includes(query) ? [at] : []
    })
    return found.slice(0, mostFound).map(at => ({
      item: at,
      id: String(at),
      label: names[at] ?? '',
      note: exampleOf(at)
    }))
  }
  const editorOf = (column: DraftColumn) => (
    <RegisterColumnEditor
      key={column.index}
      column={column}
      name={names[column.index] ?? column.header}
      example={exampleOf(column.index)}
      faults={faults}
    />
  )

  return (
    <section className="sheet flex flex-col gap-8" aria-labelledby="import-columns">
      <div>
        <h2 id="import-columns" data-step-heading tabIndex={-1} className="section-title">
          {t('registerImports.columns.title')}
        </h2>
        <p className="meta">{t('registerImports.columns.hint')}</p>
      </div>
      {source.current && <RegisterMode version={source.current.number} />}
      <Part
        title={t('registerImports.columns.key')}
        note={t(`registerImports.columns.keyNotes.${use}`)}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label={t('registerImports.columns.by')}
            value={use}
            onChange={value =>
              key && setKeyColumn(file, key.index, value === 'fingerprint' ? value : 'reference')
            }
            options={(['reference', 'fingerprint'] as const).map(value => ({
              value,
              label: t(`registerImports.columns.keys.${value}`)
            }))}
          />
          <SelectField
            label={t('registerImports.columns.column')}
            error={key ? undefined : t('registerImports.columns.keyMissing')}
            value={String(key?.index ?? '')}
            onChange={at => at !== '' && setKeyColumn(file, Number(at), use)}
            options={[
              ...(key ? [] : [{ value: '', label: t('registerImports.columns.choose') }]),
              ...names.map((name, at) => ({ value: String(at), label: name }))
            ]}
          />
        </div>
        {key && editorOf(key)}
      </Part>
      {use === 'reference' && (
        <Part
          title={t('registerImports.columns.checks')}
          note={t('registerImports.columns.checksNote')}
        >
          {checks.map(editorOf)}
          {checks.length < registerLimits.checkColumns ? (
            <Combobox
              label={t('registerImports.columns.addCheck')}
              hint={t('registerImports.columns.find')}
              search={findFree}
              choose={at => addRegisterColumn(file, at, 'check')}
            />
          ) : (
            <p className="meta">
              {t('registerImports.columns.checksFull', { count: registerLimits.checkColumns })}
            </p>
          )}
        </Part>
      )}
      <Part
        title={t('registerImports.columns.shown')}
        note={t('registerImports.columns.shownNote')}
      >
        {columns.filter(each => each.use === 'shown').map(editorOf)}
        {columns.length < registerLimits.columns ? (
          <Combobox
            label={t('registerImports.columns.addShown')}
            hint={t('registerImports.columns.find')}
            search={findFree}
            choose={at => addRegisterColumn(file, at, 'shown')}
          />
        ) : (
          <p className="meta">
            {t('registerImports.columns.full', { count: registerLimits.columns })}
          </p>
        )}
        {names.length > columns.length && (
          <p role="status" className="meta">
            {t('registerImports.columns.left', { count: names.length - columns.length })}
          </p>
        )}
      </Part>
      {starting.failure && <ErrorNote error={starting.failure} />}
      <div className="flex flex-wrap items-center gap-3">
        <BusyButton
          label={t('registerImports.columns.start')}
          isWorking={starting.isWorking}
          isOff={faults.length > 0}
          onClick={() => void starting.start(undefined)}
        />
        <button type="button" className="btn btn-outline" onClick={onBack}>
          {t('imports.wizard.columns.back')}
        </button>
        <p className="meta">
          {t(`registerImports.columns.${faults.length > 0 ? 'faults' : 'startHint'}`)}
        </p>
      </div>
    </section>
  )
}

interface PartProps {
  title: string
  note: string
  children: ReactNode
}

function Part({ title, note, children }: PartProps) {
  const id = useId()
  return (
    <section className="flex flex-col gap-4" aria-labelledby={id}>
      <div>
        <h3 id={id} tabIndex={-1} className="font-semibold">
          {title}
        </h3>
        <p className="meta">{note}</p>
      </div>
      {children}
    </section>
  )
}
