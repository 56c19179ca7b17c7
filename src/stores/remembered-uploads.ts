import * as z from 'zod/mini'
import { Store } from '../contract/requests.ts'

/** What the browser remembers of an upload that has begun, so that it goes on after a reload. */
export const RememberedUpload = z.object({
  id: z.string(),
  /** Whose it is: nobody else may see it. */
  person: z.string(),
  /** The document that works on it; it holds a lock of this name while it lives. */
  owner: z.string(),
  /** Absent while the reservation has not been answered: its key answers it again. */
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
  /** Bytes that are sent. */
  bytes: z.number(),
  category: z.object({
    id: z.string(),
    store: Store,
    media_types: z.nullable(z.array(z.string()))
  }),
  /** The file itself, where the browser gave a lasting way to it. */
  handle: z.optional(z.custom<FileSystemFileHandle>(value => typeof value === 'object'))
})
export type RememberedUpload = z.infer<typeof RememberedUpload>

export interface RememberedUploads {
  save: (upload: Omit<RememberedUpload, 'person' | 'owner'>, person: string) => Promise<void>
  forget: (id: string) => Promise<void>
  /** Takes over what no living document works on; of other people's nothing is kept. */
  claim: (person: string) => Promise<RememberedUpload[]>
}

const databaseName = 'vidimus-uploads'
const storeName = 'upload'
const lockPrefix = 'vidimus:uploads:'
/** Names this document among all tabs. */
const owner = crypto.randomUUID()
let locked = false

export const rememberedUploads: RememberedUploads = {
  async save(upload, person) {
    live()
    await write(store => store.put({ ...upload, person, owner }, upload.id))
  },
  forget: id => write(store => store.delete(id)),
  async claim(person) {
    live()
    if (!locked) return []
    // one document at a time, so that two do not take the same
    return navigator.locks.request(`${lockPrefix}claim`, async () => {
      const { held = [] } = await navigator.locks.query()
      const alive = new Set(held.map(({ name }) => name))
      const mine: RememberedUpload[] = []
      for (const value of await readAll()) {
        const { success, data } = RememberedUpload.safeParse(value)
        if (!success) continue
        if (data.person !== person) await write(store => store.delete(data.id))
        else if (!alive.has(lockPrefix + data.owner)) {
          mine.push(data)
          await write(store => store.put({ ...data, owner }, data.id))
        }
      }
      return mine
    })
  }
}

/** Forgets all, of everybody: the person has signed out. */
export async function forgetUploads(): Promise<void> {
  await write(store => store.clear())
}

/** A lock that ends with the document, however it ends. */
function live(): void {
  // without locks nobody can tell whether a document lives: nothing is then taken over
  if (locked || !('locks' in navigator)) return
  locked = true
  void navigator.locks.request(lockPrefix + owner, () => new Promise(() => {}))
}

/** Storage may be switched off or full: uploads then go on as long as the page does. */
async function write(act: (store: IDBObjectStore) => IDBRequest): Promise<void> {
  try {
    const database = await open()
    const transaction = database.transaction(storeName, 'readwrite')
    act(transaction.objectStore(storeName))
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
    })
  } catch {
    // as above
  }
}

async function readAll(): Promise<unknown[]> {
  try {
    const database = await open()
    const store = database.transaction(storeName).objectStore(storeName)
    return await answerOf(store.getAll())
  } catch {
    return []
  }
}

let opened: Promise<IDBDatabase> | undefined

function open(): Promise<IDBDatabase> {
  const request = () => {
    const opening = indexedDB.open(databaseName, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(storeName)
    return answerOf(opening)
  }
  opened ??= request().catch((error: unknown) => {
    opened = undefined
    throw error
  })
  return opened
}

function answerOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
