// Only where this folder is installed do its packages bring these types.
declare module 'cloudflare:workers' {
  export const env: {
    API_INTERNAL_URL: string
    PUBLIC_URL: string
    SITE_SECRET?: string
    CLIENT_ADDRESS_HEADER?: string
    ASSETS: { fetch: typeof fetch }
  }
  export function waitUntil(work: Promise<unknown>): void
}

declare module 'vidimus:build' {
  import type { AstroBuild } from '../src/server/site/astro-build.ts'

  const record: Pick<AstroBuild, 'id' | 'messages' | 'scripts'> & { files: string[] }
  export default record
}
