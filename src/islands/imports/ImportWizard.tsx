import { useStore } from '@nanostores/react'
import { useState } from 'react'
import type { CsvDialect } from '../../core/csv/dialect.ts'
import { encodeCsv } from '../../core/csv/writer.ts'
import { $importFile, changeDialect, readImportFile } from '../../stores/imports/import-file.ts'
import { wholeFields } from '../../stores/imports/import-kinds.ts'
import { $import, closeImport, openImport } from '../../stores/imports/imports.ts'
import { downloadFile } from '../files/download-file.ts'
import { Icon } from '../kit/Icon.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { CheckStep } from './CheckStep.tsx'
import { ColumnsStep } from './ColumnsStep.tsx'
import { FileFormatStep } from './FileFormatStep.tsx'
import { FileStep } from './FileStep.tsx'
import { PastImports } from './PastImports.tsx'
import { RunStep } from './RunStep.tsx'
import { WizardFrame, type WizardStep, writeImportAddress } from './WizardFrame.tsx'
import type { ImportWizardProps } from './wizard-props.ts'

export function ImportWizard(props: ImportWizardProps) {
  const { kind } = props
  const { t } = useTranslation()
  const state = useStore($import, { ssr: 'initial' })
  const file = useStore($importFile, { ssr: 'initial' })
  const [isNaming, setNaming] = useState(false)
  const step = stepOf()

  function stepOf(): WizardStep {
    if (state.status === 'none') {
      if (file.status !== 'read') return 'file'
      return isNaming ? 'columns' : 'read'
    }
    if (state.status !== 'ready') return 'check'
    const { state: phase } = state.item
    return ['running', 'done', 'undoing', 'undone'].includes(phase) ? 'import' : 'check'
  }

  const again = () => {
    closeImport(kind)
    setNaming(false)
    writeImportAddress(undefined)
  }
  const take = (chosen: File) => {
    setNaming(false)
    void readImportFile(kind, chosen)
  }

  return (
    <WizardFrame
      step={step}
      state={state}
      open={id => openImport(kind, id)}
      missingText={t('imports.wizard.missingText')}
      onAgain={again}
      isUnsaved={
        state.status === 'none'
          ? file.status === 'read'
          : state.status === 'ready' && state.item.state === 'open' && file.status === 'read'
      }
    >
      {step === 'file' && (
        <>
          <FileStep kind={kind} onFile={take}>
            <TemplateDownload {...props} />
          </FileStep>
          <PastImports {...props} />
        </>
      )}
      {step === 'read' && file.status === 'read' && (
        <FileFormatStep
          kind={kind}
          file={file}
          onDialect={change => void changeDialect(kind, change)}
          onNext={() => setNaming(true)}
          onBack={again}
        />
      )}
      {step === 'columns' && file.status === 'read' && (
        <ColumnsStep
          {...props}
          file={file}
          onBack={() => setNaming(false)}
          onCreated={writeImportAddress}
        />
      )}
      {step === 'check' && state.status === 'ready' && (
        <CheckStep
          {...props}
          state={state}
          onAgain={again}
          onBack={() => writeImportAddress(undefined)}
        />
      )}
      {step === 'import' && state.status === 'ready' && (
        <RunStep {...props} item={state.item} error={state.error} onAgain={again} />
      )}
    </WizardFrame>
  )
}

type TemplateProps = Pick<ImportWizardProps, 'kind' | 'labels' | 'template'>

function TemplateDownload({ kind, labels, template }: TemplateProps) {
  const { locale, t } = useTranslation()
  const saveTemplate = () => {
    const names = wholeFields(kind).map(({ name }) => name)
    const rows = [
      names.map(name => labels[name] ?? name),
      names.map(name => template.cells[name] ?? '')
    ]
    // French spreadsheets separate by semicolons
    const dialect: CsvDialect = {
      delimiter: locale === 'fr' ? ';' : ',',
      encoding: 'utf-8',
      hasMark: true,
      newline: '\r\n',
      hasHeader: true,
      firstRow: 1
    }
    downloadFile(new Blob([encodeCsv(rows, dialect)], { type: 'text/csv' }), template.name, 'csv')
  }

  return (
    <button type="button" className="btn btn-outline btn-sm self-start" onClick={saveTemplate}>
      <Icon name="save" className="size-4" />
      {t('imports.wizard.file.template')}
    </button>
  )
}
