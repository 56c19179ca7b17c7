import { AppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { type DepositEntry, errorCodeOf, resetAttempt } from './deposit-entry.ts'
import type { DepositList } from './deposit-list.ts'

const lookMs = 2000
const maxLooks = 4

interface RecordParts {
  list: DepositList
  look: (requestId: string) => Promise<ProcessedRequest>
  forget: (id: string) => void
  after: (ms: number, run: () => void) => () => void
  /** Nobody is signed in, so nobody is asked. */
  isSuspended: () => boolean
  /** The service does not know the person any more. */
  onSignedOut: () => void
  /** The service has said what became of the deposit. */
  onSettled: (entry: DepositEntry) => void
}

/** The records that the service owes, and what it says of them. */
export interface PendingRecords {
  /** What is told of the entry's request concerns it from now on. */
  follow: (entry: DepositEntry) => void
  /** The service owes the deposit from here on: waits for its record. */
  expect: (entry: DepositEntry) => void
  /** A change told by the history stream. */
  hear: (request: ProcessedRequest) => void
  /** Asks for itself in case the stream is silent; the stream usually answers first. */
  look: () => void
  drop: (entry: DepositEntry) => void
}

export function createPendingRecords(parts: RecordParts): PendingRecords {
  const { list } = parts
  const byRequest = new Map<string, DepositEntry>()
  const expected = new Set<DepositEntry>()
  let looking = false

  function hear(request: ProcessedRequest): void {
    const entry = byRequest.get(request.id)
    if (!entry?.reserved || request.seq < entry.reserved.request.seq) return
    entry.reserved.request = request
    if (entry.$state.get().status === 'recording') settle(entry)
  }

  function settle(entry: DepositEntry): void {
    const request = entry.reserved?.request
    if (!request || ['uploading', 'queued', 'processing'].includes(request.state)) return
    expected.delete(entry)
    if (request.state === 'done') {
      list.change(entry, { status: 'done', request })
    } else {
      resetAttempt(entry)
      list.fail(entry, new AppError(errorCodeOf(request), `The deposit ended as ${request.state}`))
    }
    parts.onSettled(entry)
  }

  function look(): void {
    if (looking || parts.isSuspended() || expected.size === 0) return
    looking = true
    parts.after(lookMs, () => {
      void Promise.all([...expected].slice(0, maxLooks).map(lookAt)).finally(() => {
        looking = false
        look()
      })
    })
  }

  async function lookAt(entry: DepositEntry): Promise<void> {
    if (!entry.reserved) return
    expected.delete(entry)
    expected.add(entry) // to the end, so that each gets its turn
    try {
      hear(await parts.look(entry.reserved.request.id))
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') parts.onSignedOut()
      // anything else: the next look, or the stream, will tell
    }
  }

  return {
    follow(entry) {
      if (entry.reserved) byRequest.set(entry.reserved.request.id, entry)
    },
    expect(entry) {
      parts.forget(entry.id)
      list.change(entry, { status: 'recording' })
      expected.add(entry)
      settle(entry)
      look()
    },
    hear,
    look,
    drop(entry) {
      expected.delete(entry)
      if (entry.reserved) byRequest.delete(entry.reserved.request.id)
    }
  }
}
