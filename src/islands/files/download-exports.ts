import { type CellSeparator, csvCell } from '../../core/csv/cells.ts'
import { fetchOwnData, type OwnDataExportOptions } from '../../stores/accounts/own-data-export.ts'
import {
  fetchHistoryExport,
  type HistoryExportFormat
} from '../../stores/history/request-export.ts'
import type { RequestFilter } from '../../stores/history/request-filter.ts'
import { $verifiedFileNamesByRequest } from '../../stores/verified-file-names.ts'
import { downloadFile } from './download-file.ts'

/** Adds the names of verified files, which only this browser knows. */
export async function downloadHistory(
  filter: RequestFilter,
  format: HistoryExportFormat,
  fileNamePrefix: string
): Promise<void> {
  const content = await fetchHistoryExport(filter, format)
  const names = $verifiedFileNamesByRequest.get()
  const isBare = names.size === 0
  downloadFile(
    isBare ? content : new Blob([addFileNames(await textOf(content), names)], content),
    fileNamePrefix,
    'csv'
  )
}

export async function downloadOwnData(
  options: OwnDataExportOptions,
  fileNamePrefix: string
): Promise<void> {
  downloadFile(await fetchOwnData(options), fileNamePrefix, 'json')
}

// `Blob.text()` would remove the byte order mark
async function textOf(content: Blob): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await content.arrayBuffer())
}

// the five cells of a line before an empty file name
const unnamed = /^([0-9a-f-]{36})([,;])(?:(?:"(?:[^"]|"")*"|[^",;]*)\2){4}(?=\2)/

/** Adds names that the server does not know, by the id of the history entry. */
export function addFileNames(csv: string, names: ReadonlyMap<string, readonly string[]>): string {
  const named = (line: string) =>
    line.replace(unnamed, (whole, id: string, separator: CellSeparator) => {
      const found = names.get(id)
      return found ? `${whole}${csvCell(found.join(', '), separator)}` : whole
    })
  return csv.split('\r\n').map(named).join('\r\n')
}
