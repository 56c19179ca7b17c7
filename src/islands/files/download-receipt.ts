import type { ReceiptFormat } from '../../contract/deposits.ts'
import { fetchFile } from '../../stores/download.ts'
import { saveFile } from './download-file.ts'

/** Throws `receipt_pending` if the record is not sealed yet. */
export async function saveReceipt(depositId: string, format: ReceiptFormat): Promise<void> {
  saveFile(await fetchFile(`/deposit/${depositId}/receipt`, { format }))
}
