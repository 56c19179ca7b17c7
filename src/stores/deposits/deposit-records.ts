import { AppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { DepositList } from './deposit-list.ts'
import { type Act, codeOf, startAnew } from './deposit-mutations.ts'

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
  onSettled: (act: Act) => void
}

/** The records that the service owes, and what it says of them. */
export interface DepositRecords {
  /** What is told of the act's request concerns it from now on. */
  follow: (act: Act) => void
  /** The service owes the deposit from here on: waits for its record. */
  expect: (act: Act) => void
  /** A change told by the history stream. */
  hear: (request: ProcessedRequest) => void
  /** Asks for itself in case the stream is silent; the stream usually answers first. */
  look: () => void
  drop: (act: Act) => void
}

export function createDepositRecords(parts: RecordParts): DepositRecords {
  const { list } = parts
  const byRequest = new Map<string, Act>()
  const expected = new Set<Act>()
  let looking = false

  function hear(request: ProcessedRequest): void {
    const act = byRequest.get(request.id)
    if (!act?.reserved || request.seq < act.reserved.request.seq) return
    act.reserved.request = request
    if (act.$state.get().status === 'recording') settle(act)
  }

  function settle(act: Act): void {
    const request = act.reserved?.request
    if (!request || ['uploading', 'queued', 'processing'].includes(request.state)) return
    expected.delete(act)
    if (request.state === 'done') {
      list.change(act, { status: 'done', request })
    } else {
      startAnew(act)
      list.fail(act, new AppError(codeOf(request), `The deposit ended as ${request.state}`))
    }
    parts.onSettled(act)
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

  async function lookAt(act: Act): Promise<void> {
    if (!act.reserved) return
    expected.delete(act)
    expected.add(act) // to the end, so that each gets its turn
    try {
      hear(await parts.look(act.reserved.request.id))
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') parts.onSignedOut()
      // anything else: the next look, or the stream, will tell
    }
  }

  return {
    follow(act) {
      if (act.reserved) byRequest.set(act.reserved.request.id, act)
    },
    expect(act) {
      parts.forget(act.id)
      list.change(act, { status: 'recording' })
      expected.add(act)
      settle(act)
      look()
    },
    hear,
    look,
    drop(act) {
      expected.delete(act)
      if (act.reserved) byRequest.delete(act.reserved.request.id)
    }
  }
}
