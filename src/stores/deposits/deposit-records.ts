import { AppError, type ErrorCode, errorCodes } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { Desk } from './deposit-desk.ts'
import { type DepositEntry, resetForNewReservation } from './deposit-entry.ts'
import { suspend } from './deposit-pauses.ts'

const checkMs = 2000
const maxChecks = 4

export function expectRecord(desk: Desk, entry: DepositEntry): void {
  desk.forget(entry.id)
  desk.list.change(entry, { status: 'recording' })
  desk.recording.add(entry)
  settle(desk, entry)
  checkRecords(desk)
}

export function updateRequest(desk: Desk, request: ProcessedRequest): void {
  const entry = desk.list.find(({ reserved }) => reserved?.request.id === request.id)
  if (!entry?.reserved || request.seq < entry.reserved.request.seq) return
  entry.reserved.request = request
  const { status } = entry.$state.get()
  if (status === 'recording') settle(desk, entry)
  else if (status === 'done') desk.list.change(entry, { status, request })
}

// the event stream usually reports them earlier, but may be interrupted
export function checkRecords(desk: Desk): void {
  if (desk.isCheckDue || desk.turns.isSuspended() || desk.recording.size === 0) return
  desk.isCheckDue = true
  desk.after(checkMs, async () => {
    try {
      await Promise.all(
        [...desk.recording].slice(0, maxChecks).map(each => checkRecord(desk, each))
      )
    } finally {
      desk.isCheckDue = false
      checkRecords(desk)
    }
  })
}

async function checkRecord(desk: Desk, entry: DepositEntry): Promise<void> {
  if (!entry.reserved) return
  desk.recording.delete(entry)
  desk.recording.add(entry) // now the last
  try {
    updateRequest(desk, await desk.getRequest(entry.reserved.request.id))
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') suspend(desk)
    // after any other error the next check asks again
  }
}

function settle({ list, recorded, recording, sealedIfReached }: Desk, entry: DepositEntry): void {
  const request = entry.reserved?.request
  if (!request || ['uploading', 'queued', 'processing'].includes(request.state)) return
  recording.delete(entry)
  if (request.state === 'done') {
    recorded.add(entry.prepared?.original ?? '')
    list.change(entry, { status: 'done', request: sealedIfReached(request) })
  } else {
    resetForNewReservation(entry)
    list.fail(entry, new AppError(codeOf(request), `The deposit ended as ${request.state}`))
  }
  entry.unlock()
}

function codeOf({ code }: ProcessedRequest): ErrorCode {
  return code !== undefined && code in errorCodes ? (code as ErrorCode) : 'internal' // as: just checked
}
