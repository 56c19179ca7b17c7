import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { Browser, BrowserContextOptions } from '@playwright/test'
import { startSession } from '../tests/helpers/e2e/page.ts'
import { seedRequests } from '../tests/helpers/e2e/seeded-requests.ts'
import { listenLocally } from '../tests/helpers/servers/listen.ts'
import { hasNginx, startHttp2Nginx } from '../tests/helpers/servers/nginx.ts'
import { freePort, makeServiceProcess } from '../tests/helpers/service.ts'
import { launchBrowser } from './browser.ts'
import { type BenchOptions, median, type ReportRow } from './table.ts'

const noState = { cookies: [], origins: [] }
/** A slow telephone: milliseconds, and bytes a second. */
const line = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750, offline: false }

type Protocol = 'HTTP/1.1' | 'HTTP/2'

interface Visit {
  name: string
  path: (company: string) => string
  isSignedIn?: boolean
  /** What the visitor does at the first paint. */
  act: 'choose' | 'send' | 'nothing'
  /** Matches what the page then shows. */
  effect: string
  /** At most this many seconds until then. */
  atMost?: number
}

const visits: Visit[] = [
  {
    name: 'home to verify',
    path: () => '',
    act: 'choose',
    effect: 'astro-island [data-state]:is([data-state=loading], [data-state=ready])'
  },
  {
    name: 'verify',
    path: () => '/verify',
    act: 'choose',
    effect: 'astro-island [data-state]:is([data-state=loading], [data-state=ready])',
    atMost: 1.9
  },
  {
    name: 'sign-in',
    path: () => '/sign-in',
    act: 'send',
    effect: 'astro-island [aria-invalid=true]',
    atMost: 2.2
  },
  {
    name: 'deposit',
    path: () => '/deposit',
    isSignedIn: true,
    act: 'choose',
    effect: 'astro-island section[tabindex="-1"]',
    atMost: 2.2
  },
  {
    name: 'history',
    path: () => '/history',
    isSignedIn: true,
    act: 'nothing',
    effect: 'main li[data-request]',
    atMost: 2
  },
  {
    name: 'people',
    path: company => `/admin/${company}/users`,
    isSignedIn: true,
    act: 'nothing',
    effect: 'main tbody tr',
    atMost: 2.2
  }
]

/**
 * Measures the first use of pages on a slow line without a cache: when the page is painted, and when
 * what the visitor does at that moment has a visible effect. The peer is a static page that loads as
 * many bytes of scripts in three files. Where nginx is installed, it measures HTTP/2, too. The
 * browser slows down neither TLS nor preflights.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  const rows = await measureOver('HTTP/1.1', options)
  if (hasNginx) rows.push(...(await measureOver('HTTP/2', options)))
  else options.say('HTTP/2 is not measured without nginx (Debian: apt-get install nginx-light)')
  return rows
}

async function measureOver(
  protocol: Protocol,
  { runs, quick, say, signal }: BenchOptions
): Promise<ReportRow[]> {
  const port = await freePort()
  const isHttp2 = protocol === 'HTTP/2'
  // or the person of the bench would wait for a mail
  const settings = {
    DEV: 'true',
    PUBLIC_URL: `https://localhost:${port}`,
    TRUSTED_PROXIES: '127.0.0.1'
  }
  await using service = await makeServiceProcess(isHttp2 ? settings : {})
  await service.start()
  await using proxy = isHttp2 ? await startHttp2Nginx(port, service.port) : undefined
  await using browser = await launchBrowser(signal)
  const home = proxy ? `https://localhost:${port}/en` : `http://localhost:${service.port}/en`
  const account = await browser.newContext()
  const email = await startSession(await account.newPage(), `http://localhost:${service.port}/en`)
  await seedRequests(await service.socketDir(), email, 60)
  const [admin] = await service.query<{ company_id: string }>(
    `update "user" set permissions = '{admin}' where email = $1 returning company_id`,
    [email]
  )
  if (!admin) throw new Error('nobody has signed up')
  const { cookies } = await account.storageState()
  await account.close()

  const rows: ReportRow[] = []
  for (const visit of visits) {
    const address = home + visit.path(admin.company_id)
    const state = visit.isSignedIn ? { cookies, origins: [] } : noState
    const uses: Use[] = []
    // the first visit also renders the page for the cache
    for (let run = 0; run <= (quick ? 1 : runs); run++) {
      signal.throwIfAborted()
      const use = await open(browser, address, visit, state)
      if (run > 0) uses.push(use)
    }
    const of = (figure: keyof Use) => median(uses.map(each => each[figure]))
    const peer = await openStatic(browser, of('scriptBytes'), protocol)
    const target = visit.atMost === undefined ? {} : { target: { atMost: visit.atMost } }
    const note = `${of('scripts')} scripts, ${(of('bytes') / 1000).toFixed(0)} kB`
    const name = `${visit.name} over ${protocol}`
    say(`first use, ${name}: ${of('paint').toFixed(2)} s, ${of('works').toFixed(2)} s, ${note}`)
    rows.push(
      {
        what: `first paint of ${name}`,
        ours: of('paint'),
        peer: peer.paint,
        unit: 's',
        target: { atMost: 0.75 }
      },
      {
        what: `first use of ${name}`,
        ours: of('works'),
        peer: peer.works,
        unit: 's',
        ...target,
        note
      }
    )
  }
  return rows
}

interface Use {
  /** Seconds until the first paint, and until the visible effect. */
  paint: number
  works: number
  scripts: number
  scriptBytes: number
  bytes: number
}

async function open(
  browser: Browser,
  address: string,
  { act, effect }: Pick<Visit, 'act' | 'effect'>,
  storageState: NonNullable<BrowserContextOptions['storageState']>
): Promise<Use> {
  // the certificate is our own
  const context = await browser.newContext({ locale: 'en', storageState, ignoreHTTPSErrors: true })
  const page = await context.newPage()
  const client = await context.newCDPSession(page)
  await client.send('Network.enable')
  await client.send('Network.emulateNetworkConditions', line)
  const scripts = new Set<string>()
  const use: Use = { paint: 0, works: 0, scripts: 0, scriptBytes: 0, bytes: 0 }
  client.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    use.bytes += encodedDataLength
    if (scripts.has(requestId)) use.scriptBytes += encodedDataLength
  })
  await page.addInitScript(actAtFirstPaint, { act, effect })
  await page.goto(address, { waitUntil: 'commit' })
  const times = await page.waitForFunction(() => window.firstUse?.works && window.firstUse)
  Object.assign(use, await times.jsonValue(), { scripts: scripts.size })
  await context.close()
  return use
}

declare global {
  interface Window {
    firstUse?: { paint: number; works?: number }
  }
}

/** Runs in the page. */
function actAtFirstPaint({ act, effect }: Pick<Visit, 'act' | 'effect'>): void {
  const doIt = () => {
    const input = document.querySelector<HTMLInputElement>('main input[type=file]')
    if (act === 'choose' && input) {
      const files = new DataTransfer()
      files.items.add(new File(['an ordinary document'], 'document.txt'))
      input.files = files.files
      input.dispatchEvent(new Event('change', { bubbles: true }))
    }
    if (act === 'send') document.querySelector<HTMLElement>('main form [type=submit]')?.click()
  }
  new PerformanceObserver(list => {
    const [entry] = list.getEntriesByName('first-contentful-paint')
    if (!entry) return
    window.firstUse = { paint: entry.startTime / 1000 }
    doIt()
    const timer = setInterval(() => {
      // a button that does nothing yet is pressed again
      if (act === 'send') doIt()
      if (!window.firstUse || !document.querySelector(effect)) return
      clearInterval(timer)
      window.firstUse.works = performance.now() / 1000
    }, 10)
  }).observe({ type: 'paint', buffered: true })
}

/** Opens a page that does nothing but load three scripts of so many bytes in all. */
async function openStatic(browser: Browser, bytes: number, protocol: Protocol): Promise<Use> {
  const script = `/*${randomBytes(bytes / 4).toString('base64')}*/`
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', url.endsWith('.js') ? 'text/javascript' : 'text/html')
    if (url === '/3.js')
      response.end(`${script};document.body.append(document.createElement('hr'))`)
    else if (url.endsWith('.js')) response.end(script)
    else {
      const tags = ['/1.js', '/2.js', '/3.js'].map(src => `<script defer src="${src}"></script>`)
      response.end(`<!doctype html><title>Static</title>${tags.join('')}<p>Static</p>`)
    }
  })
  const port = await listenLocally(server)
  try {
    await using proxy =
      protocol === 'HTTP/2' ? await startHttp2Nginx(await freePort(port), port) : undefined
    const address = proxy ? `https://localhost:${proxy.port}/` : `http://localhost:${port}/`
    return await open(browser, address, { act: 'nothing', effect: 'hr' }, noState)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
