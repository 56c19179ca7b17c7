import type { ProcessedRequest } from '../../contract/requests.ts'
import type { RememberedUpload } from '../remembered-uploads.ts'
import type { Retrying } from '../retrying.ts'
import type { DepositList } from './deposit-list.ts'
import { type Act, recallAct } from './deposit-mutations.ts'
import type { DepositRecords } from './deposit-records.ts'
import type { Uploads } from './tus-client.ts'

/** What taking up earlier uploads needs of the world. */
export interface RecallParts extends Pick<Uploads, 'held'> {
  look: (requestId: string) => Promise<ProcessedRequest>
  forget: (id: string) => void
  /** The lasting way to a file, where there is one. */
  handleOf: (file: File) => FileSystemFileHandle | undefined
  /** What the file is called here, with its folders where it came with them. */
  nameOf: (file: File) => string
  /** The file behind it; `ask` may ask the person, who has just pressed a button. */
  reopen: (handle: FileSystemFileHandle, ask: boolean) => Promise<File | undefined>
}

interface RecallNeeds {
  list: DepositList
  records: DepositRecords
  retrying: Retrying
  /** The act has its file and goes on. */
  goOn: (act: Act) => void
}

/** Uploads from before a reload of the page, which wait for their files. */
export interface DepositRecall {
  /** Takes them up; those whose file is at hand go on at once. */
  restore: (remembered: readonly RememberedUpload[]) => Promise<void>
  /** The one that waits for a file of this name and size. */
  find: (file: File) => Act | undefined
  /** Its fingerprint will tell whether it is the file; `isAssigned`: chosen for this very act. */
  attach: (act: Act, file: File, isAssigned: boolean) => void
  /** It was another file of the same name and size. */
  detach: (act: Act) => void
  /** Asks for the file where the browser has a lasting way to it. */
  reopen: (act: Act) => Promise<void>
}

export function createDepositRecall(
  parts: RecallParts,
  { list, records, retrying, goOn }: RecallNeeds
): DepositRecall {
  async function recall(upload: RememberedUpload): Promise<void> {
    const { id, address, request_id, bytes } = upload
    if (list.get(id)) return
    const act = recallAct(upload)
    try {
      if (address !== undefined && request_id !== undefined) {
        const { signal } = act.stop
        const request = await retrying.run(() => parts.look(request_id), { signal })
        act.reserved = { request, upload: address }
        if (request.state === 'uploading') {
          act.held = (await retrying.run(() => parts.held(address), { signal })) / bytes
          act.$state.set({ status: 'missing', ratio: act.held, wrong: false })
        }
      }
    } catch {
      // it has lapsed, or the history will tell; without a connection it stays for the next visit
      return
    }
    const state = act.reserved?.request.state
    if (state === 'cancelled' || state === 'lapsed') {
      parts.forget(id)
      return
    }
    list.put(act)
    records.follow(act)
    if (act.reserved && state !== 'uploading') records.expect(act)
    list.show()
    list.sum()
    const file = act.handle && (await parts.reopen(act.handle, false))
    if (file) attach(act, file, false)
  }

  function attach(act: Act, file: File, isAssigned: boolean): void {
    const state = act.$state.get()
    if (state.status !== 'missing') return
    if (file.size !== act.size) {
      list.change(act, { ...state, wrong: true })
      return
    }
    act.file = file
    act.isAssigned = isAssigned
    act.handle = parts.handleOf(file) ?? act.handle
    goOn(act)
  }

  return {
    async restore(remembered) {
      await Promise.all(remembered.map(recall))
    },
    find(file) {
      const name = parts.nameOf(file)
      for (const act of list) {
        const isMissing = act.$state.get().status === 'missing'
        if (isMissing && act.size === file.size && act.name === name) return act
      }
      return undefined
    },
    attach,
    detach(act) {
      act.file = undefined
      list.change(act, { status: 'missing', ratio: act.held, wrong: act.isAssigned })
    },
    async reopen(act) {
      const file = act.handle && (await parts.reopen(act.handle, true))
      if (file) attach(act, file, true)
    }
  }
}
