import { useStore } from '@nanostores/react'
import { useState } from 'react'
import { type CsvDialect, maxColumns } from '../../core/csv/dialect.ts'
import { encodeCsv } from '../../core/csv/writer.ts'
import { formatBytes } from '../../core/text/format.ts'
import {
  $importFile,
  type ImportFileState,
  readImportFile
} from '../../stores/imports/import-file.ts'
import { wholeFields } from '../../stores/imports/import-kinds.ts'
import { DropZone } from '../files/DropZone.tsx'
import { downloadFile } from '../files/download-file.ts'
import { useOnFilesReceived } from '../files/use-on-files-received.ts'
import { Icon } from '../kit/Icon.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { PastImports } from './PastImports.tsx'
import type { ImportWizardProps } from './wizard-props.ts'

interface FileStepProps extends ImportWizardProps {
  onRead: () => void
}

export function FileStep(props: FileStepProps) {
  const { kind, labels, template, onRead } = props
  const { locale, t } = useTranslation()
  const file = useStore($importFile, { ssr: 'initial' })
  const [several, setSeveral] = useState<string>()

  const take = (files: File[]) => {
    const [first] = files
    if (!first) return
    setSeveral(files.length > 1 ? first.name : undefined)
    onRead()
    void readImportFile(kind, first)
  }
  useOnFilesReceived('import', take)

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
    <>
      <section className="sheet flex flex-col gap-4" aria-labelledby="import-file">
        <h2 id="import-file" data-step-heading tabIndex={-1} className="section-title">
          {t('imports.wizard.file.title')}
        </h2>
        <p className="text-ink-soft">
          {t('imports.wizard.file.limits', {
            rows: kind.limits.rows,
            size: formatBytes(kind.limits.bytes, locale)
          })}
        </p>
        <DropZone
          to="import"
          label={t('imports.wizard.file.choose')}
          hint={t('imports.wizard.file.stays')}
          onFiles={take}
        />
        {file.status === 'reading' && (
          <p role="status" className="text-ink-soft">
            {t('imports.wizard.file.reading', { name: file.file.name })}
          </p>
        )}
        {(file.status === 'refused' || file.status === 'failed') && (
          <div role="alert" className="alert alert-error alert-outline items-start">
            <Icon name="alert" className="mt-0.5 size-5" />
            <p className="wrap-anywhere">{whyNot(file)}</p>
          </div>
        )}
        {several && file.status !== 'none' && (
          <p role="status">{t('imports.wizard.file.several', { name: several })}</p>
        )}
        <Paste onPaste={text => take([pastedFile(text, t('imports.wizard.file.pastedName'))])} />
        <button type="button" className="btn btn-outline btn-sm self-start" onClick={saveTemplate}>
          <Icon name="save" className="size-4" />
          {t('imports.wizard.file.template')}
        </button>
      </section>
      <PastImports {...props} />
    </>
  )

  function whyNot(found: Extract<ImportFileState, { status: 'refused' | 'failed' }>): string {
    const { name, size } = found.file
    if (found.status === 'failed') {
      return found.error.code === 'file_unreadable'
        ? t('imports.wizard.file.refused.unreadable', { name })
        : t(`errors.${found.error.code}`)
    }
    return t(`imports.wizard.file.refused.${found.why}`, {
      name,
      size: formatBytes(size, locale),
      limit: formatBytes(kind.limits.bytes, locale),
      columns: maxColumns
    })
  }
}

function Paste({ onPaste }: { onPaste: (text: string) => void }) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  return (
    <details className="flex flex-col gap-3">
      <summary className="link w-fit cursor-pointer">{t('imports.wizard.file.paste')}</summary>
      <form
        className="mt-3 flex flex-col gap-3"
        onSubmit={event => {
          event.preventDefault()
          if (text.trim() !== '') onPaste(text)
        }}
      >
        <label className="flex flex-col gap-1.5">
          <span className="label-text">{t('imports.wizard.file.pasteLabel')}</span>
          <textarea
            className="textarea min-h-32 w-full font-mono text-sm"
            spellCheck={false}
            value={text}
            onChange={event => setText(event.currentTarget.value)}
          />
        </label>
        <p className="text-ink-soft text-sm">{t('imports.wizard.file.pasteHint')}</p>
        <button type="submit" className="btn btn-outline self-start">
          {t('imports.wizard.file.usePaste')}
        </button>
      </form>
    </details>
  )
}

function pastedFile(text: string, name: string): File {
  return new File([text], name, { type: 'text/tab-separated-values' })
}
