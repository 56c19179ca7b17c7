import { clear, createStore, del, set, values } from 'idb-keyval'
import * as z from 'zod/mini'
import { Store } from '../contract/requests.ts'

/** An upload that this browser has begun, with all it takes to continue it after a reload. */
export const RememberedUpload = z.object({
  id: z.string(),
  /** Id of the person: nobody else may see the upload. */
  person: z.string(),
  /** Id of the document that is working on it. */
  owner: z.string(),
  /**
   * Address of the upload. Absent until the server has answered the reservation. A repeated
   * reservation with the same key gets the same address.
   */
  address: z.optional(z.string()),
  request_id: z.optional(z.string()),
  key: z.string(),
  again: z.boolean(),
  name: z.string(),
  /** Bytes and type of the file as chosen. */
  size: z.number(),
  type: z.string(),
  original: z.string(),
  stored: z.string(),
  /** Size of what is sent: the file or its reduced copy. */
  bytes: z.number(),
  category: z.object({
    id: z.string(),
    store: Store,
    media_types: z.nullable(z.array(z.string()))
  }),
  /** Opens the file again, in browsers that give such handles. */
  handle: z.optional(z.custom<FileSystemFileHandle>(value => typeof value === 'object'))
})
export type RememberedUpload = z.infer<typeof RememberedUpload>

const store = createStore('vidimus-uploads', 'upload')
const lockPrefix = 'vidimus:uploads:'

/** Deletes the remembered uploads of everybody. */
export async function forgetUploads(): Promise<void> {
  await attempt(() => clear(store))
}

/**
 * Remembers the uploads of this document in the browser. The document holds a lock while it lives,
 * however it ends, so that another one can tell which uploads nobody is working on.
 */
export function createRememberedUploads() {
  const owner = crypto.randomUUID()
  let hasLock = false

  function lock(): void {
    // a page without HTTPS has no locks: nobody can tell then whether a document lives
    if (hasLock || !('locks' in navigator)) return
    hasLock = true
    void navigator.locks.request(lockPrefix + owner, () => new Promise(() => {}))
  }

  return {
    async save(upload: Omit<RememberedUpload, 'person' | 'owner'>, person: string): Promise<void> {
      lock()
      await attempt(() => set(upload.id, { ...upload, person, owner }, store))
    },

    async forget(id: string): Promise<void> {
      await attempt(() => del(id, store))
    },

    /** Takes over the person's uploads that no document is working on, and deletes those of others. */
    async claim(person: string): Promise<RememberedUpload[]> {
      lock()
      if (!hasLock) return []
      // one document at a time, so that no two take the same upload
      return navigator.locks.request(`${lockPrefix}claim`, async () => {
        const { held = [] } = await navigator.locks.query()
        const locks = new Set(held.map(({ name }) => name))
        const claimed: RememberedUpload[] = []
        for (const value of (await attempt(() => values(store))) ?? []) {
          const { success, data } = RememberedUpload.safeParse(value)
          if (!success) continue
          if (data.person !== person) await attempt(() => del(data.id, store))
          else if (!locks.has(lockPrefix + data.owner)) {
            claimed.push(data)
            await attempt(() => set(data.id, { ...data, owner }, store))
          }
        }
        return claimed
      })
    }
  }
}

/** Storage may be switched off or full. Uploads then continue only for as long as the page is open. */
async function attempt<Result>(access: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await access()
  } catch {
    return undefined
  }
}
