import { fetchExport } from '../../stores/request-export.ts'
import type { RequestFilter } from '../../stores/request-filter.ts'

/** Hands the CSV of the history to the browser's own download, under a name and the day. */
export async function saveExport(filter: RequestFilter, name: string): Promise<void> {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await fetchExport(filter))
  link.download = `${name}-${new Date().toISOString().slice(0, 10)}.csv`
  link.click()
  // the download has its own hold on the bytes by then
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
