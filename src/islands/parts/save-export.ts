import { type ExportOptions, getExport } from '../../stores/exports.ts'
import { fetchExport } from '../../stores/request-export.ts'
import type { RequestFilter } from '../../stores/request-filter.ts'

/** Hands the CSV of the history to the browser's own download, under a name and the day. */
export async function saveExport(filter: RequestFilter, name: string): Promise<void> {
  save(await fetchExport(filter), name, 'csv')
}

/** The same for the person's own data, as JSON. */
export async function saveOwnData(options: ExportOptions, name: string): Promise<void> {
  save(await getExport(options), name, 'json')
}

function save(content: Blob, name: string, extension: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = `${name}-${new Date().toISOString().slice(0, 10)}.${extension}`
  link.click()
  // the download has its own hold on the bytes by then
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
