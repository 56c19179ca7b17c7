import { addFileNames } from '../../core/text/history-csv.ts'
import { fetchOwnData, type OwnDataExportOptions } from '../../stores/accounts/own-data-export.ts'
import { fetchHistoryExport } from '../../stores/history/request-export.ts'
import type { RequestFilter } from '../../stores/history/request-filter.ts'
import { $verifiedFileNames } from '../../stores/verified-file-names.ts'
import { downloadFile } from './download-file.ts'

/**
 * Downloads a CSV file with the requests of the history that match the filter. Adds the names of
 * verified files, which only this browser knows. The file is called `name` with the date of today.
 */
export async function downloadHistory(filter: RequestFilter, name: string): Promise<void> {
  const content = await fetchHistoryExport(filter)
  const names = $verifiedFileNames.get()
  const isBare = names.size === 0
  downloadFile(
    isBare ? content : new Blob([addFileNames(await textOf(content), names)], content),
    name,
    'csv'
  )
}

/** Downloads the person's own data as JSON. */
export async function downloadOwnData(options: OwnDataExportOptions, name: string): Promise<void> {
  downloadFile(await fetchOwnData(options), name, 'json')
}

/** Returns the text of a file including its byte order mark, which `Blob.text()` would remove. */
async function textOf(content: Blob): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await content.arrayBuffer())
}
