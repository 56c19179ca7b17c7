import type { Strength } from '../core/input/password.ts'
import { defaultLocale, isLocale, type Locale } from '../i18n/index.ts'
import type { Keys } from '../workers/kdf-client.ts'
import type { AskOptions } from '../workers/pool.ts'

/** Where the page is; the parts of `location` that stores read. */
export interface Place {
  protocol: string
  host: string
  hostname: string
  pathname: string
  search: string
  hash: string
}

export interface Channel {
  say(message: unknown): void
  close(): void
}

export interface LockRequest {
  /** Takes it from whoever has it. */
  steal: boolean
  onHeld: () => void
  /** Another tab has it; it comes with `onHeld` when that one lets go. */
  onWait: () => void
  /** Another tab has taken it away. */
  onLost: () => void
}

/** All that the stores take from the browser: the one seam that tests replace. */
export interface Environment {
  fetch: typeof fetch
  /** Milliseconds since the epoch. */
  now(): number
  /** From 0 to 1. */
  random(): number
  /** Runs once after `ms` milliseconds; the answer calls it off. */
  after(ms: number, run: () => void): () => void
  place(): Place
  /** Language tag of the page. */
  language(): string
  /** Leaves for `url` in place of this page, and in full: nothing of this one stays in memory. */
  replacePage(url: string): void
  /** Swaps in another page of this site; what runs goes on. `replace` leaves no entry behind. */
  openPage(href: string, replace: boolean): Promise<void>
  /** Leaves for another site. */
  openSite(href: string): void
  readCookie(name: string): string | undefined
  writeCookie(text: string): void
  readStored(key: string): string | undefined
  /** Nothing as value deletes the entry. */
  store(key: string, value: string | undefined): void
  /** Hears what other tabs of this origin say, and speaks to them. */
  openChannel(name: string, hear: (message: unknown) => void): Channel
  /** Asks for what one tab of this browser has at a time; the answer gives it back, or asks no more. */
  holdLock(name: string, asked: LockRequest): () => void
  isVisible(): boolean
  /** Runs when the page is left, be it for good or for the browser's cache. The answer ends it. */
  onHide(run: () => void): () => void
  /** Runs when the person comes back: page shown, network back, page restored. The answer ends it. */
  onWake(run: () => void): () => void
  /** Runs when the device loses its network. The answer ends it. */
  onOffline(run: () => void): () => void
  openKeys(email: string, password: string): Promise<Keys>
  /** How hard the password is to guess for somebody who knows these words. */
  rateStrength(password: string, words: string[]): Promise<Strength>
  /** Hex SHA-256, computed on this device. */
  hashFile(file: Blob, options: AskOptions): Promise<string>
}

let current: Environment | undefined

/** The browser, until a test has set another. */
export function environment(): Environment {
  current ??= browser()
  return current
}

export function setEnvironment(environment: Environment | undefined): void {
  current = environment
}

/** What the page in front of the person speaks: `fr-FR` → `fr` */
export function pageLocale(): Locale {
  const language = environment().language().slice(0, 2)
  return isLocale(language) ? language : defaultLocale
}

function browser(): Environment {
  return {
    fetch: (...request) => fetch(...request),
    now: () => Date.now(),
    random: () => Math.random(),
    after(ms, run) {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
    place: () => location,
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
        return undefined // storage may be switched off; all that lies there is a convenience
      }
    },
    store(key, value) {
      try {
        if (value === undefined) localStorage.removeItem(key)
        else localStorage.setItem(key, value)
      } catch {
        // as above, or full
      }
    },
    openChannel(name, hear) {
      const channel = new BroadcastChannel(name)
      channel.onmessage = event => hear(event.data)
      return { say: message => channel.postMessage(message), close: () => channel.close() }
    },
    holdLock,
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
    async openKeys(email, password) {
      // Loaded at the first use: most visits need no key.
      const { openKeys } = await import('../workers/kdf-client.ts')
      return openKeys(email, password)
    },
    async rateStrength(password, words) {
      const { rateStrength } = await import('../workers/strength-client.ts')
      return rateStrength({ password, words })
    },
    async hashFile(file, options) {
      const { hashFile } = await import('../workers/hash-client.ts')
      return hashFile(file, options)
    }
  }
}

function holdLock(name: string, { steal, onHeld, onWait, onLost }: LockRequest): () => void {
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
    onWait()
    await navigator.locks.request(name, { signal: asking.signal }, hold)
  }

  ask().catch(() => {
    if (asking.signal.aborted) return
    if (isHeld) onLost()
    // Without locks, as on a page without HTTPS, each tab works for itself.
    else hold()
  })
  return () => {
    asking.abort()
    release()
  }
}
