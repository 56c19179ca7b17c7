import { asAppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { isTransient } from '../retries.ts'
import type { RememberedUpload } from '../uploads/remembered-uploads.ts'
import { deliver, isBatched, remember, startAnew, takeBack } from './deposit-delivery.ts'
import { createDesk, type DepositQueueDependencies, type Desk } from './deposit-desk.ts'
import { type DepositEntry, resetForNewReservation } from './deposit-entry.ts'
import { addFiles, attachFile, detachFile, restoreUpload } from './deposit-intake.ts'
import {
  endSuspension,
  isLimit,
  pause,
  pauseAtLimit,
  resume,
  resumeLimited,
  suspend
} from './deposit-pauses.ts'
import { keepOriginal, mustChoose, needsPreparation, prepareFile } from './deposit-preparation.ts'
import { checkRecords, updateRequest } from './deposit-records.ts'
import {
  canBePaused,
  type DepositCategory,
  hasEnded,
  type PictureChoice
} from './deposit-states.ts'
import type { Turn } from './deposit-turns.ts'

export function createDepositQueue(parts: DepositQueueDependencies) {
  const desk: Desk = createDesk(parts, entry => void takePath(desk, entry))
  const { list, retries } = desk
  type Act<Rest extends unknown[]> = (desk: Desk, entry: DepositEntry, ...rest: Rest) => void
  const one =
    <Rest extends unknown[]>(act: Act<Rest>) =>
    (id: string, ...rest: Rest) => {
      const entry = list.get(id)
      if (entry) act(desk, entry, ...rest)
    }
  const all = (act: Act<[]>) => () => {
    for (const entry of list) act(desk, entry)
  }
  return {
    $deposits: list.$deposits,
    $summary: list.$summary,
    updateSummary: list.updateSummary,
    addFiles: (files: readonly File[], category: DepositCategory) =>
      addFiles(desk, files, category),
    async restore(uploads: readonly RememberedUpload[]): Promise<void> {
      await Promise.all(uploads.map(upload => restoreUpload(desk, upload)))
    },
    pause: one((_desk, entry) => pause(desk, entry)),
    resume: one(resume),
    cancel: one(cancel),
    retry: one(retry),
    depositAgain: one(depositAgain),
    choosePicture: one(choosePicture),
    chooseFile: one((_desk, entry, file: File) => attachFile(desk, entry, file, true)),
    async reopenFile(id: string): Promise<void> {
      const entry = list.get(id)
      const file = entry?.handle && (await parts.openHandle(entry.handle, true))
      if (entry && file) attachFile(desk, entry, file, true)
    },
    pauseAll: all(pause),
    resumeAll: all(resume),
    cancelAll: all(cancel),
    retryAll: all(retry),
    /** Also for pictures that are not prepared yet, unless a choice was made for them. */
    choosePictureVersionForAll(choice: PictureChoice): void {
      for (const entry of list) {
        if (!entry.prepared) entry.choice ??= choice
        choosePicture(desk, entry, choice)
      }
    },
    hasRequest: (requestId: string) =>
      list.find(({ reserved }) => reserved?.request.id === requestId) !== undefined,
    updateRequest: (request: ProcessedRequest) => updateRequest(desk, request),
    retryNow(): void {
      retries.endPauses()
      for (const entry of list) {
        const state = entry.$state.get()
        if (state.status === 'failed' && state.error.code === 'offline') retry(desk, entry)
      }
    },
    resumeLimited: () => resumeLimited(desk),
    suspend: () => suspend(desk),
    endSuspension(): void {
      endSuspension(desk)
      checkRecords(desk)
    },
    removeEnded: () => list.removeWhere(({ $state }) => hasEnded($state.get())),
    // so that the next person sees none of it
    clear(): void {
      for (const entry of list) {
        entry.stop.abort()
        entry.unlock()
        parts.forget(entry.id)
      }
      desk.toAdd.length = 0
      for (const part of [desk.limits, desk.recording, desk.recorded]) part.clear()
      desk.turns.setSuspended(false)
      list.removeWhere(() => true)
    }
  }
}

// stops where the person must decide; called again, goes on behind the last completed step
async function takePath(desk: Desk, entry: DepositEntry): Promise<void> {
  entry.stop = new AbortController()
  const { signal } = entry.stop
  const turn = desk.turns.createTurn()
  desk.list.change(entry, { status: 'waiting' })
  try {
    if (!entry.prepared) {
      const step = entry.size <= desk.maxBatchedBytes ? 'prepareSmall' : 'prepare'
      const isSame = await turn.take(step, signal, () => prepareFile(desk, entry, signal))
      signal.throwIfAborted()
      turn.giveBack()
      if (!isSame) return detachFile(desk, entry)
    }
    if (entry.choice === 'original') keepOriginal(entry)
    if (entry.prepared && mustChoose(entry)) {
      const { original, stored } = entry.prepared
      desk.list.change(entry, { status: 'choosing', original, stored })
      return remember(desk, entry)
    }
    desk.list.change(entry, { status: 'waiting' })
    await send(desk, entry, turn, signal)
  } catch (thrown) {
    if (signal.aborted) return // whoever stops a deposit sets its state
    const error = asAppError(thrown, 'A deposit failed in the browser')
    if (error.code === 'unauthenticated') suspend(desk)
    else if (isLimit(error)) pauseAtLimit(desk, entry, error)
    else desk.list.fail(entry, error)
  } finally {
    // only now, so that the next deposit knows of a reached limit
    turn.giveBack()
  }
}

// deposits of one file go one after the other, so that the next ones are duplicates
async function send(
  desk: Desk,
  entry: DepositEntry,
  turn: Turn,
  signal: AbortSignal
): Promise<void> {
  const { prepared, again } = entry
  if (!prepared) throw new Error('A deposit must be prepared before it is sent')
  const { original } = prepared
  const unlockHere = again ? () => {} : await desk.turns.takeFile(original)
  entry.unlock = unlockHere
  try {
    signal.throwIfAborted()
    // recorded while this deposit was paused, so the server has to be asked anew
    if (!again && entry.reserved && desk.recorded.has(original)) startAnew(desk, entry)
    const step = isBatched(desk, entry, prepared) ? 'sendInBatch' : 'send'
    await turn.take(step, signal, async () => {
      const unlockTabs = again ? () => {} : await desk.lockFile(original, signal)
      entry.unlock = () => {
        unlockHere()
        unlockTabs()
      }
      signal.throwIfAborted()
      await deliver(desk, entry, prepared, signal)
    })
  } finally {
    if (entry.$state.get().status !== 'recording') entry.unlock()
  }
}

function choosePicture(desk: Desk, entry: DepositEntry, choice: PictureChoice): void {
  if (entry.$state.get().status !== 'choosing') return
  entry.choice = choice
  desk.start(entry)
}

function cancel(desk: Desk, entry: DepositEntry): void {
  const state = entry.$state.get()
  if (!canBePaused(state) && !['paused', 'choosing', 'missing'].includes(state.status)) return
  takeBack(desk, entry)
  entry.stop.abort()
  desk.list.change(entry, { status: 'cancelled' })
  desk.forget(entry.id)
}

function retry(desk: Desk, entry: DepositEntry): void {
  const state = entry.$state.get()
  if (state.status !== 'failed' || !state.retryable) return
  const { error } = state
  if (!isTransient(error)) resetForNewReservation(entry)
  if (needsPreparation(error)) entry.prepared = undefined
  if (error.code === 'transform_not_allowed') {
    entry.choice = 'original'
    entry.reduction = undefined
  }
  desk.start(entry)
}

function depositAgain(desk: Desk, entry: DepositEntry): void {
  if (entry.$state.get().status !== 'duplicate') return
  resetForNewReservation(entry)
  entry.again = true
  desk.start(entry)
}
