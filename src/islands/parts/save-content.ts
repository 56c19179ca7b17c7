import type { ProcessedRequest } from '../../contract/requests.ts'
import { fetchContent } from '../../stores/contents.ts'

/** Hands the exact bytes on record to the browser's own download. */
export async function saveContent(request: ProcessedRequest): Promise<void> {
  if (!request.deposit_id) return
  const address = URL.createObjectURL(await fetchContent(request.deposit_id))
  const link = document.createElement('a')
  link.href = address
  link.download = downloadName(request)
  link.click()
  // the download has its own hold on the bytes, but takes it a moment after the click
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

/** A picture that is kept as a JPEG is saved as one: `scan.png` → `scan.png.jpg` */
function downloadName({ name, media_type }: ProcessedRequest): string {
  const known = name ?? 'document'
  return media_type === 'image/jpeg' && !/\.jpe?g$/i.test(known) ? `${known}.jpg` : known
}
