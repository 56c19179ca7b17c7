import type { DomainConfig } from './contract/domains.ts'
import type { PageEntry } from './core/pages/page-table.ts'
import type { PageLocals } from './site/site.ts'

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
    interface Locals extends PageLocals {
      tenant: DomainConfig
      page: PageEntry
      locale: 'en' | 'fr'
      themeCss: string
      boot: string
    }
  }
}
