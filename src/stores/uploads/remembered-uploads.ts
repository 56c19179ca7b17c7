import { clear, createStore, del, set, values } from 'idb-keyval'
import * as z from 'zod/mini'
import { StoredContentKind } from '../../contract/requests.ts'

/** With everything needed to continue it after a reload. */
export const RememberedUpload = z.object({
  id: z.string(),
  person: z.string(),
  /** The tab that sends the upload. A tab gets a new id each time it is loaded. */
  owner: z.string(),
  /** Undefined until the server has answered. The same `key` reserves the same address again. */
  address: z.optional(z.string()),
  request_id: z.optional(z.string()),
  key: z.string(),
  again: z.boolean(),
  name: z.string(),
  // size and type are those of the file that the person chose
  size: z.number(),
  type: z.string(),
  original: z.string(),
  stored: z.string(),
  /** Whether the person still has to choose between the picture and its reduced copy. */
  isChoosing: z.optional(z.boolean()),
  // those of the file or of its reduced copy
  bytes: z.number(),
  category: z.object({
    id: z.string(),
    store: StoredContentKind,
    media_types: z.nullable(z.array(z.string()))
  }),
  // only some browsers provide handles
  handle: z.optional(z.custom<FileSystemFileHandle>(value => typeof value === 'object'))
})
export type RememberedUpload = z.infer<typeof RememberedUpload>

const store = createStore('vidimus-uploads', 'upload')
const lockPrefix = 'vidimus:uploads:'

export async function deleteRememberedUploads(): Promise<void> {
  await attempt(() => clear(store))
}

/** The tab has a lock until it is closed or crashes. Then another tab may take over its uploads. */
export function createRememberedUploads() {
  const owner = crypto.randomUUID()
  let hasLock = false

  function lock(): void {
    // a page without HTTPS has no locks, so other tabs cannot tell whether this one is open
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

    /**
     * Returns the person's uploads that no open tab is sending, and deletes those of other people.
     */
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

// storage may be disabled or full; uploads then continue only until the page is closed
async function attempt<Result>(access: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await access()
  } catch {
    return undefined
  }
}
