import { api, apiOrigin } from './sessions.ts'

export async function createContentLink(depositId: string): Promise<string> {
  const { url } = await api('createContentLink', { id: depositId })
  return new URL(url, apiOrigin()).href
}
