import type { ProcessedRequest } from '../../contract/requests.ts'
import type { RememberedUpload } from '../remembered-uploads.ts'
import type { Retrying } from '../retrying.ts'
import { type DepositEntry, restoreEntry } from './deposit-entry.ts'
import type { DepositList } from './deposit-list.ts'
import type { PendingRecords } from './pending-records.ts'
import type { TusClient } from './tus-client.ts'

/** What taking up earlier uploads needs of the world. */
export interface ResumeParts extends Pick<TusClient, 'held'> {
  look: (requestId: string) => Promise<ProcessedRequest>
  forget: (id: string) => void
  /** The lasting way to a file, where there is one. */
  handleOf: (file: File) => FileSystemFileHandle | undefined
  /** What the file is called here, with its folders where it came with them. */
  nameOf: (file: File) => string
  /** The file behind it; `ask` may ask the person, who has just pressed a button. */
  reopen: (handle: FileSystemFileHandle, ask: boolean) => Promise<File | undefined>
}

interface ResumeNeeds {
  list: DepositList
  records: PendingRecords
  retrying: Retrying
  /** The entry has its file and goes on. */
  goOn: (entry: DepositEntry) => void
}

/** Uploads from before a reload of the page, which wait for their files. */
export interface ResumableUploads {
  /** Takes them up; those whose file is at hand go on at once. */
  restore: (remembered: readonly RememberedUpload[]) => Promise<void>
  /** The one that waits for a file of this name and size. */
  find: (file: File) => DepositEntry | undefined
  /** Its fingerprint will tell whether it is the file; `isAssigned`: chosen for this very entry. */
  attach: (entry: DepositEntry, file: File, isAssigned: boolean) => void
  /** It was another file of the same name and size. */
  detach: (entry: DepositEntry) => void
  /** Asks for the file where the browser has a lasting way to it. */
  reopen: (entry: DepositEntry) => Promise<void>
}

export function createResumableUploads(
  parts: ResumeParts,
  { list, records, retrying, goOn }: ResumeNeeds
): ResumableUploads {
  async function resume(upload: RememberedUpload): Promise<void> {
    const { id, address, request_id, bytes } = upload
    if (list.get(id)) return
    const entry = restoreEntry(upload)
    try {
      if (address !== undefined && request_id !== undefined) {
        const { signal } = entry.stop
        const request = await retrying.run(() => parts.look(request_id), { signal })
        entry.reserved = { request, upload: address }
        if (request.state === 'uploading') {
          entry.held = (await retrying.run(() => parts.held(address), { signal })) / bytes
          entry.$state.set({ status: 'missing', ratio: entry.held, wrong: false })
        }
      }
    } catch {
      // it has lapsed, or the history will tell; without a connection it stays for the next visit
      return
    }
    const state = entry.reserved?.request.state
    if (state === 'cancelled' || state === 'lapsed') {
      parts.forget(id)
      return
    }
    list.put(entry)
    records.follow(entry)
    if (entry.reserved && state !== 'uploading') records.expect(entry)
    list.show()
    list.sum()
    const file = entry.handle && (await parts.reopen(entry.handle, false))
    if (file) attach(entry, file, false)
  }

  function attach(entry: DepositEntry, file: File, isAssigned: boolean): void {
    const state = entry.$state.get()
    if (state.status !== 'missing') return
    if (file.size !== entry.size) {
      list.change(entry, { ...state, wrong: true })
      return
    }
    entry.file = file
    entry.isAssigned = isAssigned
    entry.handle = parts.handleOf(file) ?? entry.handle
    goOn(entry)
  }

  return {
    async restore(remembered) {
      await Promise.all(remembered.map(resume))
    },
    find(file) {
      const name = parts.nameOf(file)
      for (const entry of list) {
        const isMissing = entry.$state.get().status === 'missing'
        if (isMissing && entry.size === file.size && entry.name === name) return entry
      }
      return undefined
    },
    attach,
    detach(entry) {
      entry.file = undefined
      list.change(entry, { status: 'missing', ratio: entry.held, wrong: entry.isAssigned })
    },
    async reopen(entry) {
      const file = entry.handle && (await parts.reopen(entry.handle, true))
      if (file) attach(entry, file, true)
    }
  }
}
