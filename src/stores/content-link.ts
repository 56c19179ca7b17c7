import { api, apiOrigin } from './sessions.ts'

/**
 * Returns an address that downloads the stored file of a deposit. The address works for one minute.
 */
export async function createContentLink(depositId: string): Promise<string> {
  const { url } = await api('createContentLink', { id: depositId })
  return new URL(url, apiOrigin()).href
}
