import type { DomainConfig } from './contract/domains.ts'
import type { PageEntry } from './core/pages/page-table.ts'
import type { BuiltScripts } from './server/site/astro-build.ts'

declare global {
  interface DocumentEventMap {
    /**
     * Asks `shell/start.ts` to show a message in the corner of the window. Sent by
     * `islands/kit/show-message.ts`.
     */
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
      /**
       * Calls the API in this process, without a network connection. `server/site/site.ts` sets
       * this field and the following fields, up to and including `failPage`.
       */
      api: typeof fetch
      /** Host name of the page in lower case, without port. It belongs to a company. */
      host: string
      /** Origin of the page: `http://localhost:4321`. */
      origin: string
      /** Origin of the API for the company of the page: `http://api.localhost:4321`. */
      apiOrigin: string
      /** Id of the running build. A page that was opened with another build offers to reload. */
      buildId: string
      scripts: BuiltScripts
      /** Number of fingerprints per minute that one network may verify without signing in. */
      checksPerMinute: number
      /** The IP addresses or the host name of this service. Empty if they are not set. */
      publicAddresses: readonly string[]
      /** Hands the finished page to the cache of `server/site/site.ts`. */
      keepPage: (page: { status: number; headers: Record<string, string>; body: string }) => void
      /** Reports the error that kept the page from being rendered. */
      failPage: (cause: unknown) => void
      /**
       * Configuration of the company's site on this host. `middleware.ts` sets this field and the
       * fields below it.
       */
      tenant: DomainConfig
      page: PageEntry
      locale: 'en' | 'fr'
      themeCss: string
      /** Text of the script that runs before the first paint. */
      boot: string
    }
  }
}
