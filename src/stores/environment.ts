import { AppError } from '../contract/kit/errors.ts'
import type { PasswordStrength } from '../core/input/password.ts'
import { defaultLocale, isLocale, type Locale } from '../i18n/index.ts'
import type { CsvReader } from '../workers/csv-client.ts'
import type { SigningWorker } from '../workers/kdf-client.ts'
import type { WorkerTaskOptions } from '../workers/pool.ts'

export interface PageLocation {
  protocol: string
  host: string
  hostname: string
  pathname: string
  search: string
  hash: string
}

export interface TabChannel {
  send(message: unknown): void
  close(): void
}

export interface LockOptions {
  steal: boolean
  onHeld: () => void
  /** Runs when another tab has the lock. `onHeld` runs later. */
  onWait?: () => void
  onLost?: () => void
}

/** The functions of the browser that stores use. Tests replace them. */
export interface BrowserEnvironment {
  fetch: typeof fetch
  now(): number
  random(): number
  /** Returns the function that cancels the call. */
  after(ms: number, run: () => void): () => void
  pageLocation(): PageLocation
  language(): string
  /** Discards everything that this page has in memory. */
  replacePage(url: string): void
  /** Loads no new document. With `replace`, replaces the current entry of the browser's history. */
  openPage(href: string, replace: boolean): Promise<void>
  openSite(href: string): void
  readCookie(name: string): string | undefined
  writeCookie(text: string): void
  readStored(key: string): string | undefined
  /** Deletes the value if it is undefined. */
  store(key: string, value: string | undefined): void
  openChannel(name: string, onMessage: (message: unknown) => void): TabChannel
  /**
   * Only one tab can have it. Returns the function that releases the lock or cancels the request.
   */
  requestLock(name: string, request: LockOptions): () => void
  isVisible(): boolean
  /** Also runs when the page goes into the browser's back/forward cache. */
  onHide(run: () => void): () => void
  /** Runs when the page becomes visible again or the network returns. */
  onWake(run: () => void): () => void
  onOffline(run: () => void): () => void
  startSigningWorker(email: string, password: string): Promise<SigningWorker>
  /** `words`: what an attacker may know, such as the person's name. */
  rateStrength(password: string, words: string[]): Promise<PasswordStrength>
  /** SHA-256 in hex. */
  hashFile(file: Blob, options: WorkerTaskOptions): Promise<string>
  /** Loads the code that hashes files, so that it is there when the network is not. */
  prepareHashing(): Promise<void>
  csvReader(): Promise<CsvReader>
}

let current: BrowserEnvironment | undefined

export function browserEnvironment(): BrowserEnvironment {
  current ??= browser()
  return current
}

export function setBrowserEnvironment(environment: BrowserEnvironment | undefined): void {
  current = environment
}

export function pageLocale(): Locale {
  const language = browserEnvironment().language().slice(0, 2)
  return isLocale(language) ? language : defaultLocale
}

function browser(): BrowserEnvironment {
  return {
    fetch: (...request) => takeEarlyResponse(...request) ?? fetch(...request),
    now: () => Date.now(),
    random: () => Math.random(),
    after(ms, run) {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
    pageLocation: () => location,
    language: () => document.documentElement.lang,
    replacePage: url => location.replace(url),
    async openPage(href, replace) {
      const { navigate } = await import('astro:transitions/client')
      await navigate(href, { history: replace ? 'replace' : 'auto' })
    },
    openSite: href => location.assign(href),
    readCookie(name) {
      const pair = document.cookie.split('; ').find(pair => pair.startsWith(`${name}=`))
      return pair?.slice(name.length + 1)
    },
    writeCookie(text) {
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not everywhere yet
      document.cookie = text
    },
    readStored(key) {
      try {
        return localStorage.getItem(key) ?? undefined
      } catch {
        return undefined // storage may be disabled; all values in it are optional
      }
    },
    store(key, value) {
      try {
        if (value === undefined) localStorage.removeItem(key)
        else localStorage.setItem(key, value)
      } catch {
        // storage may be disabled or full
      }
    },
    openChannel(name, onMessage) {
      const channel = new BroadcastChannel(name)
      channel.onmessage = event => onMessage(event.data)
      return { send: message => channel.postMessage(message), close: () => channel.close() }
    },
    requestLock,
    isVisible: () => document.visibilityState === 'visible',
    onHide(run) {
      addEventListener('pagehide', run)
      return () => removeEventListener('pagehide', run)
    },
    onWake(run) {
      const seen = () => {
        if (document.visibilityState === 'visible') run()
      }
      document.addEventListener('visibilitychange', seen)
      addEventListener('online', run)
      addEventListener('pageshow', run)
      return () => {
        document.removeEventListener('visibilitychange', seen)
        removeEventListener('online', run)
        removeEventListener('pageshow', run)
      }
    },
    onOffline(run) {
      addEventListener('offline', run)
      return () => removeEventListener('offline', run)
    },
    async startSigningWorker(email, password) {
      // loaded on demand, because most visits need no key
      const { startSigningWorker } = await import('../workers/kdf-client.ts')
      return startSigningWorker(email, password)
    },
    async rateStrength(password, words) {
      const { rateStrength } = await import('../workers/strength-client.ts')
      return rateStrength({ password, words })
    },
    async hashFile(file, options) {
      const { hashFile } = await loadHashing()
      return hashFile(file, options)
    },
    async prepareHashing() {
      const { prepareHashing } = await loadHashing()
      prepareHashing()
    },
    async csvReader() {
      const { csvReader } = await import('../workers/csv-client.ts')
      return csvReader
    }
  }
}

/** Returns the response to a call that `boot.js` has begun. Undefined if it has not begun this one. */
function takeEarlyResponse(...request: Parameters<typeof fetch>): Promise<Response> | undefined {
  const [input, init] = request
  const asked = input instanceof Request ? input : { url: String(input), ...init }
  const sent = new Headers(asked.headers)
  const call = window.earlyCalls?.find(
    ({ url, headers, stream, isTaken }) =>
      !isTaken &&
      url === asked.url &&
      ['authorization', 'company'].every(name => sent.get(name) === (headers[name] ?? null)) &&
      // another tab reads the stream, and this list may lack what it has brought since
      (!stream || stream.isTaken)
  )
  if (!call || (asked.method ?? 'GET') !== 'GET' || sent.has('last-event-id')) return undefined
  call.isTaken = true
  asked.signal?.addEventListener('abort', call.abort)
  return call.response.catch(() => fetch(...request))
}

async function loadHashing() {
  try {
    return await import('../workers/hash-client.ts')
  } catch (cause) {
    throw new AppError('offline', 'The code of fingerprints could not be loaded', { cause })
  }
}

function requestLock(name: string, { steal, onHeld, onWait, onLost }: LockOptions): () => void {
  const asking = new AbortController()
  const { promise: letGo, resolve: release } = Promise.withResolvers<void>()
  let isHeld = false
  const hold = () => {
    if (asking.signal.aborted) return undefined
    isHeld = true
    onHeld()
    return letGo
  }

  async function ask(): Promise<void> {
    if (steal) return navigator.locks.request(name, { steal }, hold)
    await navigator.locks.request(name, { ifAvailable: true }, lock => (lock ? hold() : undefined))
    if (isHeld || asking.signal.aborted) return
    onWait?.()
    await navigator.locks.request(name, { signal: asking.signal }, hold)
  }

  ask().catch(() => {
    if (asking.signal.aborted) return
    if (isHeld) onLost?.()
    // without locks, as on a page without HTTPS, each tab acts as leader
    else hold()
  })
  return () => {
    asking.abort()
    release()
  }
}
