import type { ReceiptFormat } from '../../contract/deposits.ts'
import { fetchFile } from '../../stores/download.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { saveFile } from './download-file.ts'

interface ReceiptButtonProps {
  depositId: string
  format?: ReceiptFormat
  className: string
  /** Of the document, where the page has several of these buttons. */
  name?: string
}

export function ReceiptButton(props: ReceiptButtonProps) {
  const { depositId, format = 'json', className, name } = props
  const { t } = useTranslation()
  const { start, isWorking, failure } = useAction({
    what: 'Saving the receipt failed',
    send: async () => saveFile(await fetchFile(`/deposit/${depositId}/receipt`, { format }))
  })
  const label = t(`files.receipt.${isWorking ? 'saving' : format}`)
  return (
    <>
      <button
        type="button"
        className={className}
        aria-label={name && t('files.receipt.of', { action: label, name })}
        aria-disabled={isWorking}
        onClick={() => void start(undefined)}
      >
        {label}
      </button>
      {failure && <ErrorNote error={failure} />}
    </>
  )
}
