import { api, apiOrigin, sessionToken } from '../sessions.ts'
import { httpUpload } from './http-upload.ts'
import { createTusClient } from './tus-client.ts'

/** Cancels an upload that was begun anywhere, and gives its room back. */
export async function cancelUpload(requestId: string): Promise<void> {
  const { upload } = await api('getOpenUpload', { id: requestId })
  const uploads = createTusClient({ http: httpUpload, token: sessionToken })
  await uploads.release(new URL(upload, apiOrigin()).href)
}
