import { api, apiOrigin } from './sessions.ts'

/** Where the exact bytes on record can be fetched from, for a minute. */
export async function createContentLink(depositId: string): Promise<string> {
  const { url } = await api('createContentLink', { id: depositId })
  return new URL(url, apiOrigin()).href
}
