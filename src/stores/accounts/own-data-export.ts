import { AppError } from '../../contract/kit/errors.ts'
import { api, type CallOutput, sessionGeneration } from '../sessions.ts'
import { $verifiedFileNamesByRequest } from '../verified-file-names.ts'

export interface OwnDataExportOptions {
  signal: AbortSignal
  /** `count`: the history entries loaded so far. */
  onProgress: (count: number) => void
}

type Export = CallOutput<'exportOwnData'>

/**
 * Adds the names of verified files, which only this browser knows. Throws `unauthenticated` if the
 * session ends meanwhile.
 */
export async function fetchOwnData({ signal, onProgress }: OwnDataExportOptions): Promise<Blob> {
  const session = sessionGeneration()
  const read = async (cursor?: string) => {
    const page = await api('exportOwnData', { cursor }, { signal })
    signal.throwIfAborted()
    if (session !== sessionGeneration())
      throw new AppError('unauthenticated', 'Signed out meanwhile')
    return page
  }
  const first = await read()
  const requests = [...first.requests]
  let last: Export = first
  onProgress(requests.length)
  while (!last.complete) {
    const cursor = last.requests.at(-1)?.id
    if (!cursor) throw new AppError('unexpected_answer', 'A page before the last is empty')
    last = await read(cursor)
    requests.push(...last.requests)
    onProgress(requests.length)
  }
  const names = $verifiedFileNamesByRequest.get()
  const named = requests.map(request => {
    const checked = names.get(request.id)
    return checked ? { ...request, checked_names: checked } : request
  })
  const whole: Export = { ...first, requests: named, complete: true }
  return new Blob([JSON.stringify(whole, null, 2)], { type: 'application/json' })
}
