import { api, apiOrigin } from './sessions.ts'

/** Returns an address from which the stored file can be downloaded for a minute. */
export async function createContentLink(depositId: string): Promise<string> {
  const { url } = await api('createContentLink', { id: depositId })
  return new URL(url, apiOrigin()).href
}
