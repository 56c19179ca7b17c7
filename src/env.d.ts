import type { DomainConfig } from './contract/domains.ts'
import type { PageEntry } from './core/pages/page-table.ts'

declare global {
  interface DocumentEventMap {
    // sent by `islands/kit/show-message.ts`, shown by `shell/start.ts`
    'vidimus:news': CustomEvent<{ text: string; undo?: { label: string; run: () => void } }>
  }

  interface Window {
    /** The calls that `boot.js` has begun. `stores/environment.ts` takes their responses. */
    earlyCalls?: EarlyCall[]
    /** The button outside all islands that was clicked before its script ran. */
    earlyClick?: HTMLElement | undefined
  }

  interface EarlyCall {
    url: string
    headers: Record<string, string>
    response: Promise<Response>
    /** Ends the call, or the stream. */
    abort: () => void
    /** The event stream after which this list was loaded. */
    stream?: EarlyCall
    isTaken?: boolean
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
      // as `BuiltScripts` of `server/site/astro-build.ts`
      scripts: { ofSource: Record<string, string>; imports: Record<string, string[]> }
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
