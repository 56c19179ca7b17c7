import * as z from 'zod/mini'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import { companyIdOfPage } from '../admin/admin-api.ts'
import { browserEnvironment } from '../environment.ts'
import { personalAtom } from '../personal-atoms.ts'
import { createCallRetrier } from '../retries.ts'
import { addSessionEndListener, apiOrigin, handleAuthError, sessionToken } from '../sessions.ts'
import { sendUploadRequest } from '../uploads/http-upload.ts'
import { createTusClient } from '../uploads/tus-client.ts'

/** The upload of this tab. */
export type RegisterUpload =
  | { status: 'none' }
  | { status: 'sending' | 'paused' | 'sent'; id: string; bytes: number; sent: number }
  | { status: 'failed'; id: string; bytes: number; sent: number; error: AppError }

export const $registerUpload = personalAtom<RegisterUpload>({ status: 'none' })

// with these, an upload continues after a reload, once the person has chosen the file again
const RememberedUpload = z.object({
  id: z.string(),
  upload: z.string(),
  name: z.string(),
  bytes: z.number()
})
export type RememberedRegisterUpload = z.infer<typeof RememberedUpload>

const storageKey = 'vidimus:register-uploads'
const mostRemembered = 20

let current: { id: string; url: string; file: Blob } | undefined
let stop = new AbortController()

addSessionEndListener(() => {
  stop.abort()
  current = undefined
})

export async function startRegisterUpload(
  upload: RememberedRegisterUpload,
  file: Blob
): Promise<void> {
  remember(upload)
  stop.abort()
  current = { id: upload.id, url: upload.upload, file }
  await send(0)
}

/** Does nothing unless this tab has the file. */
export async function continueRegisterUpload(): Promise<void> {
  const now = $registerUpload.get()
  if (now.status === 'paused' || now.status === 'failed') await send(now.sent)
}

export function pauseRegisterUpload(): void {
  const now = $registerUpload.get()
  if (now.status !== 'sending') return
  stop.abort()
  $registerUpload.set({ ...now, status: 'paused' })
}

export function forgetRegisterUpload(id: string): void {
  store(remembered().filter(each => each.id !== id))
  if (current?.id !== id) return
  stop.abort()
  current = undefined
  $registerUpload.set({ status: 'none' })
}

export function findRememberedUpload(id: string): RememberedRegisterUpload | undefined {
  return remembered().find(each => each.id === id)
}

// each attempt asks the server how much it has, and goes on from there
async function send(from: number): Promise<void> {
  if (!current) return
  const { id, url, file } = current
  const company = companyIdOfPage()
  stop = new AbortController()
  const { signal } = stop
  let sent = from
  const show = (status: 'sending' | 'sent') => {
    if (!signal.aborted) $registerUpload.set({ status, id, bytes: file.size, sent })
  }
  const tus = createTusClient({
    // an operator may import for another company
    http: request =>
      sendUploadRequest({
        ...request,
        uri: new URL(request.uri, apiOrigin()).href,
        headers: { ...request.headers, Company: company }
      }),
    token: sessionToken,
    onProblem: handleAuthError
  })
  const retries = createCallRetrier(browserEnvironment())
  show('sending')
  try {
    const attempt = (onNewBytes: () => void) =>
      tus.send(url, file, {
        signal,
        onProgress(bytes) {
          if (bytes > sent) onNewBytes()
          sent = bytes
          show('sending')
        }
      })
    await retries.run(attempt, { signal })
    show('sent')
    forgetRemembered(id)
  } catch (cause) {
    if (signal.aborted) return
    const error = asAppError(cause, 'Uploading the file failed')
    $registerUpload.set({ status: 'failed', id, bytes: file.size, sent, error })
  }
}

function forgetRemembered(id: string): void {
  store(remembered().filter(each => each.id !== id))
}

function remember(upload: RememberedRegisterUpload): void {
  store([upload, ...remembered().filter(({ id }) => id !== upload.id)].slice(0, mostRemembered))
}

function store(uploads: readonly RememberedRegisterUpload[]): void {
  browserEnvironment().store(storageKey, uploads.length > 0 ? JSON.stringify(uploads) : undefined)
}

function remembered(): RememberedRegisterUpload[] {
  try {
    const stored: unknown = JSON.parse(browserEnvironment().readStored(storageKey) ?? '[]')
    return z.array(RememberedUpload).safeParse(stored).data ?? []
  } catch {
    return []
  }
}
