import type { BrowserEnvironment, LockOptions, PageLocation } from '../../src/stores/environment.ts'
import {
  countRowsAndFaults,
  createRowRangeReader,
  inspectFile
} from '../../src/workers/csv-files.ts'

type Handler = (request: Request) => Response | Promise<Response>

/**
 * Creates a simulated browser: cookies, storage, channels, locks and a clock that all its tabs
 * share.
 */
export function makeBrowser({ now = Date.parse('2026-05-03T12:00:00Z') } = {}) {
  const cookies = new Map<string, { value: string; attributes: string[] }>()
  const storage = new Map<string, string>()
  const listeners = new Set<{ name: string; hear: (message: unknown) => void }>()
  const timers = new Set<{ at: number; run: () => void }>()
  const locks = new Map<string, { holder?: LockOptions; queue: LockOptions[] }>()
  let time = now

  function writeCookie(text: string): void {
    const [pair = '', ...attributes] = text.split('; ')
    const name = pair.slice(0, pair.indexOf('='))
    if (attributes.includes('Max-Age=0')) cookies.delete(name)
    else cookies.set(name, { value: pair.slice(name.length + 1), attributes })
  }

  /** Requests a lock like the Web Locks API, but calls back synchronously. */
  function requestLock(name: string, asked: LockOptions): () => void {
    const lock = locks.get(name) ?? { queue: [] }
    locks.set(name, lock)
    if (asked.steal || !lock.holder) {
      const robbed = lock.holder
      lock.holder = asked
      asked.onHeld()
      robbed?.onLost?.()
    } else {
      lock.queue.push(asked)
      asked.onWait?.()
    }
    return () => {
      lock.queue = lock.queue.filter(each => each !== asked)
      if (lock.holder !== asked) return
      const next = lock.queue.shift()
      if (next) lock.holder = next
      else delete lock.holder
      next?.onHeld()
    }
  }

  /** Opens a tab at `url`. `handle` answers the tab's API calls. */
  function openTab(url: string, handle: Handler) {
    const place = placeOf(url)
    const wakes = new Set<() => void>()
    const losses = new Set<() => void>()
    const hides = new Set<() => void>()
    let isVisible = true
    let isFrozen = false
    const replaced: string[] = []
    const opened: { href: string; how: 'page' | 'replaced' | 'site' }[] = []
    const calls: { method: string; path: string; body: unknown; token: string | null }[] = []
    const keys = { opened: 0, closed: 0 }
    const environment: BrowserEnvironment = {
      async fetch(input, init) {
        const request = new Request(input, init)
        const { pathname, search } = new URL(request.url)
        const text = await request.clone().text()
        calls.push({
          method: request.method,
          path: pathname + search,
          body: text ? JSON.parse(text) : undefined,
          token: request.headers.get('authorization')
        })
        return handle(request)
      },
      now: () => time,
      random: () => 0,
      after(ms, run) {
        const timer = { at: time + ms, run }
        timers.add(timer)
        return () => timers.delete(timer)
      },
      pageLocation: () => place,
      language: () => (place.pathname.startsWith('/fr') ? 'fr-FR' : 'en-US'),
      replacePage: url => replaced.push(url),
      openPage: async (href, replace) => {
        opened.push({ href, how: replace ? 'replaced' : 'page' })
      },
      openSite: href => opened.push({ href, how: 'site' }),
      readCookie: name => cookies.get(name)?.value,
      writeCookie,
      readStored: key => storage.get(key),
      store(key, value) {
        if (value === undefined) storage.delete(key)
        else storage.set(key, value)
      },
      openChannel(name, hear) {
        const mine = {
          name,
          hear(message: unknown) {
            if (!isFrozen) hear(message)
          }
        }
        listeners.add(mine)
        return {
          send(message) {
            if (isFrozen) return
            for (const ear of [...listeners])
              if (ear !== mine && ear.name === name) ear.hear(message)
          },
          close: () => listeners.delete(mine)
        }
      },
      requestLock,
      isVisible: () => isVisible,
      onHide(run) {
        hides.add(run)
        return () => hides.delete(run)
      },
      onWake(run) {
        wakes.add(run)
        return () => wakes.delete(run)
      },
      onOffline(run) {
        losses.add(run)
        return () => losses.delete(run)
      },
      async startSigningWorker() {
        keys.opened += 1
        return {
          respond: async (challenge, purpose, host) => `${challenge}.${purpose}@${host}`,
          publicKeyJwt: async ({ challenge, aud, purpose }) => `${challenge}.${purpose}@${aud}`,
          close: () => {
            keys.closed += 1
          }
        }
      },
      rateStrength: async password => (password.length < 16 ? 1 : 4),
      async prepareHashing() {},
      async hashFile(file) {
        const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer())
        return Buffer.from(digest).toString('hex')
      },
      async csvReader() {
        const take = createRowRangeReader()
        return {
          inspect: inspectFile,
          count: (file, dialect, options) => countRowsAndFaults(file, dialect, options?.onProgress),
          take: (file, dialect, part) => take(JSON.stringify(dialect), file, dialect, part)
        }
      }
    }
    return {
      environment,
      calls,
      keys,
      replaced,
      opened,
      wake() {
        for (const run of [...wakes]) run()
      },
      /**
       * Freezes the tab: it neither receives nor sends messages until `thaw()`. Its timers
       * continue.
       */
      freeze() {
        isFrozen = true
      },
      thaw() {
        isFrozen = false
      },
      show(visible: boolean) {
        isVisible = visible
      },
      /** Runs the listeners of `onHide`, as when the person leaves the page. */
      hide() {
        for (const run of [...hides]) run()
      },
      loseNetwork() {
        for (const run of [...losses]) run()
      }
    }
  }

  return {
    cookies,
    storage,
    openTab,
    timers,
    locks,
    now: () => time,
    /** Moves the clock on without running timers, as when the device sleeps. */
    sleep(ms: number): void {
      time += ms
    },
    /** Moves the clock on and runs the timers that fall due, in order. */
    advance(ms: number): void {
      const end = time + ms
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (!next) break
        timers.delete(next)
        time = Math.max(time, next.at)
        next.run()
      }
      time = end
    }
  }
}

/** Returns a token in the server's format with an invalid signature. */
export function makeToken(claims: Record<string, unknown>): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode(claims)}.${'s'.repeat(86)}`
}

function placeOf(url: string): PageLocation {
  const { protocol, host, hostname, pathname, search, hash } = new URL(url)
  return { protocol, host, hostname, pathname, search, hash }
}
