import {
  firstDataRows,
  headingsOf,
  joinParts,
  type OpenedFile,
  setFieldColumn,
  unmappedRequiredFields
} from '../../stores/imports/import-file.ts'
import { createImportFromChosenFile } from '../../stores/imports/imports.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { clip, columnLetters } from './FileFormatStep.tsx'
import type { ImportWizardProps } from './wizard-props.ts'

interface ColumnsStepProps extends ImportWizardProps {
  file: OpenedFile
  onBack: () => void
  onCreated: (id: string) => void
}

export function ColumnsStep(props: ColumnsStepProps) {
  const { kind, labels, hints, Options, file, onBack, onCreated } = props
  const { t } = useTranslation()
  const { mapping } = file
  const headings = headingsOf(file)
  const [example = []] = firstDataRows(file)
  const exampleValues = joinParts(
    kind.fields,
    Object.fromEntries(Object.entries(mapping).map(([field, at]) => [field, example[at] ?? '']))
  )
  const names = headings.map(
    (heading, at) => heading || t('imports.wizard.read.column', { name: columnLetters(at) })
  )
  const missing = unmappedRequiredFields(kind.fields, mapping)
  const taken = new Set(Object.values(mapping))
  const left = names.filter((_, at) => !taken.has(at))
  const starting = useAction({
    what: 'Starting the import failed',
    send: async () => onCreated(await createImportFromChosenFile(kind))
  })

  return (
    <section className="sheet flex flex-col gap-6" aria-labelledby="import-columns">
      <div>
        <h2 id="import-columns" data-step-heading tabIndex={-1} className="section-title">
          {t('imports.wizard.columns.title')}
        </h2>
        <p className="meta">{t('imports.wizard.columns.hint')}</p>
      </div>
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        {kind.fields.map(({ name, joins }) => {
          const column = mapping[name]
          const value =
            column === undefined ? '' : (exampleValues[joins?.field ?? name] ?? '').trim()
          const isMissing = missing.some(each => each.name === name)
          return (
            <SelectField
              key={name}
              label={labels[name] ?? name}
              hint={
                value ? t('imports.wizard.columns.example', { value: clip(value) }) : hints[name]
              }
              error={isMissing ? t('imports.wizard.columns.required') : undefined}
              value={String(column ?? '')}
              onChange={at => setFieldColumn(name, at === '' ? undefined : Number(at))}
              options={[
                { value: '', label: t('imports.wizard.columns.none') },
                ...names.map((heading, at) => ({ value: String(at), label: heading }))
              ]}
            />
          )
        })}
      </div>
      <p role="status" className="wrap-anywhere text-ink-soft">
        {left.length > 0
          ? t('imports.wizard.columns.left', { count: left.length, names: left.join(', ') })
          : t('imports.wizard.columns.all')}
      </p>
      <div className="flex flex-col gap-3">
        <h3 className="font-semibold">{t('imports.wizard.columns.options')}</h3>
        <Options />
      </div>
      {starting.failure && <ErrorNote error={starting.failure} />}
      <div className="flex flex-wrap items-center gap-3">
        <BusyButton
          label={t('imports.wizard.columns.check')}
          isWorking={starting.isWorking}
          isOff={missing.length > 0}
          onClick={() => void starting.start(undefined)}
        />
        <button type="button" className="btn btn-outline" onClick={onBack}>
          {t('imports.wizard.columns.back')}
        </button>
        <p className="meta">{t('imports.wizard.columns.checkHint')}</p>
      </div>
    </section>
  )
}
