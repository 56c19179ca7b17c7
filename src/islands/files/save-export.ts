import { addFileNames } from '../../core/text/history-csv.ts'
import { type ExportOptions, getExport } from '../../stores/accounts/own-data-export.ts'
import { $checkedNames } from '../../stores/checked-names.ts'
import { fetchExport } from '../../stores/history/request-export.ts'
import type { RequestFilter } from '../../stores/history/request-filter.ts'

/**
 * Downloads the history as a CSV file called `name` with the date. Adds the names of verified
 * files, which only this browser knows.
 */
export async function saveExport(filter: RequestFilter, name: string): Promise<void> {
  const content = await fetchExport(filter)
  const names = $checkedNames.get()
  const isBare = names.size === 0
  save(
    isBare ? content : new Blob([addFileNames(await textOf(content), names)], content),
    name,
    'csv'
  )
}

/** Downloads the person's own data as JSON. */
export async function saveOwnData(options: ExportOptions, name: string): Promise<void> {
  save(await getExport(options), name, 'json')
}

/** Returns a text including its byte order mark, which `Blob.text()` would remove. */
async function textOf(content: Blob): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await content.arrayBuffer())
}

function save(content: Blob, name: string, extension: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = `${name}-${new Date().toISOString().slice(0, 10)}.${extension}`
  link.click()
  // by then the download no longer needs the address
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
