import { addFileNames } from '../../core/text/history-csv.ts'
import { type ExportOptions, getExport } from '../../stores/accounts/own-data-export.ts'
import { $checkedNames } from '../../stores/checked-names.ts'
import { fetchExport } from '../../stores/history/request-export.ts'
import type { RequestFilter } from '../../stores/history/request-filter.ts'
import { saveFile } from './save-file.ts'

/**
 * Downloads the history as a CSV file called `name` with the date. Adds the names of verified
 * files, which only this browser knows.
 */
export async function saveExport(filter: RequestFilter, name: string): Promise<void> {
  const content = await fetchExport(filter)
  const names = $checkedNames.get()
  const isBare = names.size === 0
  saveFile(
    isBare ? content : new Blob([addFileNames(await textOf(content), names)], content),
    name,
    'csv'
  )
}

/** Downloads the person's own data as JSON. */
export async function saveOwnData(options: ExportOptions, name: string): Promise<void> {
  saveFile(await getExport(options), name, 'json')
}

/** Returns a text including its byte order mark, which `Blob.text()` would remove. */
async function textOf(content: Blob): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await content.arrayBuffer())
}
