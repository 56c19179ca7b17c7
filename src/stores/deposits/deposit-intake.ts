import type { RememberedUpload } from '../uploads/remembered-uploads.ts'
import type { Desk } from './deposit-desk.ts'
import { createDepositEntry, type DepositEntry, restoreDepositEntry } from './deposit-entry.ts'
import { findLimit } from './deposit-pauses.ts'
import { findRefusal } from './deposit-preparation.ts'
import { expectRecord } from './deposit-records.ts'
import { countUnfinished, type DepositCategory, maxUnfinishedDeposits } from './deposit-states.ts'

// a thousand in one task would block the page
const sliceFiles = 20

export function addFiles(desk: Desk, files: readonly File[], category: DepositCategory): number {
  const { list, toAdd } = desk
  const summary = list.updateSummary()
  const isAdding = toAdd.length > 0
  const open = countUnfinished(summary) + toAdd.length
  if (open === summary.missing) list.beginBatch()
  // adding files may succeed again, for example after a limit was raised
  desk.limits.delete(category.id)
  let added = 0
  let places = Math.max(0, maxUnfinishedDeposits - open)
  for (const file of files) {
    const missing = findMissing(desk, file)
    if (!missing && places === 0) continue
    added += 1
    if (missing) attachFile(desk, missing, file, false)
    else {
      places -= 1
      toAdd.push({ file, category })
    }
  }
  // the browser has just created all these files, which is enough work for one task
  if (!isAdding && toAdd.length > sliceFiles) desk.after(0, () => addSlice(desk))
  else if (!isAdding) addSlice(desk)
  list.updateSummary()
  return added
}

function addSlice(desk: Desk): void {
  for (const { file, category } of desk.toAdd.splice(0, sliceFiles)) addFile(desk, file, category)
  desk.list.show()
  if (desk.toAdd.length > 0) desk.after(0, () => addSlice(desk))
}

function addFile(desk: Desk, file: File, category: DepositCategory): void {
  const { size, type } = file
  const [name, handle] = [desk.nameOf(file), desk.handleOf(file)]
  const entry = createDepositEntry({ file, name, size, type, category, handle })
  desk.list.add(entry)
  const refusal = findRefusal(entry)
  const error = findLimit(desk, entry, 0)
  if (refusal) desk.list.fail(entry, refusal)
  else if (error) desk.list.change(entry, { status: 'paused', by: 'limit', ratio: 0, error })
  else desk.start(entry)
}

function findMissing({ list, nameOf }: Desk, file: File): DepositEntry | undefined {
  const name = nameOf(file)
  return list.find(entry => {
    const isMissing = entry.$state.get().status === 'missing'
    return isMissing && entry.size === file.size && entry.name === name
  })
}

/**
 * After a reload. A file of another size is `wrong`; other differences are found when it is hashed.
 * `isAssigned`: whether it was chosen or reopened for this very deposit.
 */
export function attachFile(
  { handleOf, list, start }: Desk,
  entry: DepositEntry,
  file: File,
  isAssigned: boolean
): void {
  const state = entry.$state.get()
  if (state.status !== 'missing') return
  if (file.size !== entry.size) {
    list.change(entry, { ...state, wrong: true })
    return
  }
  entry.file = file
  entry.isAssigned = isAssigned
  entry.handle = handleOf(file) ?? entry.handle
  start(entry)
}

// it is not the file from before the reload
export function detachFile(desk: Desk, entry: DepositEntry): void {
  const { file, category, isAssigned, sent } = entry
  entry.file = undefined
  desk.list.change(entry, { status: 'missing', ratio: sent, wrong: isAssigned })
  if (!file || isAssigned) return
  // not chosen for this deposit, so it becomes one of its own
  addFile(desk, file, category)
  desk.list.show()
}

export async function restoreUpload(desk: Desk, upload: RememberedUpload): Promise<void> {
  const { list } = desk
  if (list.get(upload.id)) return
  // an upload that cannot be loaded now stays stored for the next visit
  const entry = await loadEntry(desk, upload).catch(() => undefined)
  if (!entry) return
  list.add(entry)
  if (entry.reserved && entry.reserved.request.state !== 'uploading') expectRecord(desk, entry)
  list.show()
  list.updateSummary()
  const file = entry.handle && (await desk.openHandle(entry.handle, false))
  if (file) attachFile(desk, entry, file, false)
}

async function loadEntry(
  { forget, getOffset, getRequest, retries }: Desk,
  upload: RememberedUpload
): Promise<DepositEntry | undefined> {
  const { id, address, request_id, bytes } = upload
  const entry = restoreDepositEntry(upload)
  if (address === undefined || request_id === undefined) return entry
  const request = await retries.run(() => getRequest(request_id))
  if (request.state === 'cancelled' || request.state === 'lapsed') {
    forget(id)
    return undefined
  }
  entry.reserved = { request, upload: address }
  if (request.state === 'uploading') {
    entry.sent = (await retries.run(() => getOffset(address))) / bytes
    entry.$state.set({ status: 'missing', ratio: entry.sent, wrong: false })
  }
  return entry
}
