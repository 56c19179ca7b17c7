import type { DomainConfig } from './contract/domains.ts'
import type { PageEntry } from './core/pages/page-table.ts'

declare global {
  interface DocumentEventMap {
    // sent by `islands/kit/show-message.ts`, shown by `shell/start.ts`
    'vidimus:news': CustomEvent<{ text: string; undo?: { label: string; run: () => void } }>
  }

  namespace App {
    interface Locals {
      // without a network connection; set by `server/site/site.ts`, as all fields until `failPage`
      api: typeof fetch
      host: string
      origin: string
      apiOrigin: string
      // a page of another build offers to reload
      buildId: string
      // by one network without signing in
      checksPerMinute: number
      publicAddresses: readonly string[]
      // fills the cache of `server/site/site.ts`
      keepPage: (page: { status: number; headers: Record<string, string>; body: string }) => void
      failPage: (cause: unknown) => void
      tenant: DomainConfig
      page: PageEntry
      locale: 'en' | 'fr'
      themeCss: string
      boot: string
    }
  }
}
