import type { CsvDialect } from '../../core/csv/dialect.ts'
import { encodeCsv } from '../../core/csv/writer.ts'
import { wholeFields } from '../../stores/imports/import-kinds.ts'
import { downloadFile } from '../files/download-file.ts'
import { Icon } from '../kit/Icon.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import type { ImportWizardProps } from './wizard-props.ts'

type TemplateDownloadProps = Pick<ImportWizardProps, 'kind' | 'labels' | 'template'>

export function TemplateDownload({ kind, labels, template }: TemplateDownloadProps) {
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
