import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/** Returns the path of the Firefox that scripts/setup.mjs has found, if any. */
export function findFirefox(): string | undefined {
  const path = '.cache/firefox'
  return process.env.FIREFOX_PATH ?? (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
}

// no first-run page, no updates, no reports, no proxy between it and this machine, and no lower
// priority for the processes of some windows, which would stand still on a busy machine
const preferences = {
  'app.update.disabledForTesting': true,
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.ipc.processPriorityManager.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.proxy.type': 0,
  'signon.rememberSignons': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false
}

const patienceMs = 90_000

/**
 * CSS selectors of the elements that may have a role. Firefox computes the name of every element in
 * which it looks, and looking through a whole page takes seconds.
 */
const elementsOf = {
  button: 'button, [role=button]',
  dialog: 'dialog, [role=dialog], [role=alertdialog]',
  field: 'input, textarea, select',
  heading: 'h1, h2, h3, h4',
  link: 'a[href]',
  menuitem: '[role=menuitem]',
  option: '[role=option]'
}

type Role = Exclude<keyof typeof elementsOf, 'field'>

interface AccessibleValue {
  role?: Role
  name: string
}

/** Matches the error that Firefox logs if its page is left while a font loads. */
const abortedFont = /^downloadable font: download failed .* status=2152398850 / // NS_BINDING_ABORTED

/** The End key in the notation of WebDriver. */
const endKey = '\uE010'

type Tab = ReturnType<typeof makeTab>

/**
 * Starts the Firefox of the Linux distribution and controls it through WebDriver BiDi. Playwright
 * cannot: it needs a patched Firefox, which has to be downloaded.
 */
export async function startFirefox(path: string) {
  const profile = mkdtempSync(join(tmpdir(), 'vidimus-firefox-'))
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`
  )
  writeFileSync(join(profile, 'user.js'), lines.join(''))
  const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile]
  const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  // after a timeout, a test process ends without disposing of what it has started
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const wire = await openWire(await addressOf(child))
  await wire.send('session.new', { capabilities: {} })
  await wire.send('session.subscribe', {
    events: ['log.entryAdded', 'network.beforeRequestSent']
  })

  return {
    /**
     * Opens a tab with its own cookies and storage, or with those of the tab `beside`. Each tab has
     * a window of its own, because Firefox hides and slows down a tab behind another.
     */
    async openTab(beside?: Tab) {
      const userContext =
        beside?.userContext ?? (await wire.send('browser.createUserContext')).userContext
      const { context } = await wire.send('browsingContext.create', { type: 'window', userContext })
      return makeTab(wire, context, userContext)
    },
    async [Symbol.asyncDispose]() {
      wire.close()
      process.off('exit', kill)
      const ended = child.exitCode === null && once(child, 'exit')
      child.kill()
      await ended
      rmSync(profile, { recursive: true, force: true })
    }
  }
}

function makeTab(wire: Wire, context: string, userContext: string) {
  const faults: string[] = []
  const sent: string[] = []
  wire.listen('log.entryAdded', ({ level, text, source }) => {
    const isFault = level === 'error' && !abortedFont.test(text)
    if (source.context === context && isFault) faults.push(text)
  })
  wire.listen('network.beforeRequestSent', ({ context: from, request }) => {
    const isAsking = ['GET', 'OPTIONS'].includes(request.method)
    if (from !== context || isAsking) return
    sent.push(`${request.method} ${new URL(request.url).pathname}, ${request.bodySize} bytes`)
  })

  function find(role: Role, name: string): Promise<Node> {
    return locate(role, { role, name }).catch(async cause => {
      const [focused, shown] = [await evaluate(describeFocus), await evaluate(readText)]
      throw new Error(
        `${cause.message}; sent: ${sent.join(' ; ')}; focused: ${focused}; the page says: ${shown}`,
        { cause }
      )
    })
  }

  async function locate(kind: keyof typeof elementsOf, value: AccessibleValue): Promise<Node> {
    return until(`${kind} “${value.name}”`, async () => {
      const elements = await locateNow({ type: 'css', value: elementsOf[kind] })
      if (elements.length === 0) return undefined
      const startNodes = elements.map(({ sharedId }) => ({ sharedId }))
      const [found] = await locateNow({ type: 'accessibility', value }, { startNodes })
      return found
    })
  }

  async function locateNow(locator: object, options: object = {}): Promise<Node[]> {
    const given = { context, locator, ...options }
    const { nodes } = await wire.send('browsingContext.locateNodes', given)
    return nodes
  }

  /** Calls a function in the page. Returns its result, which must be JSON. */
  async function evaluate(act: string, ...given: (string | Node)[]): Promise<unknown> {
    const answer = await wire.send('script.callFunction', {
      functionDeclaration: `async (...given) => JSON.stringify(await (${act})(...given) ?? null)`,
      target: { context },
      awaitPromise: true,
      arguments: given.map(value => (typeof value === 'string' ? { type: 'string', value } : value))
    })
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text)
    return JSON.parse(answer.result.value)
  }

  async function perform(type: 'pointer' | 'key', actions: object[]): Promise<void> {
    await wire.send('input.performActions', { context, actions: [{ type, id: type, actions }] })
  }

  async function click(node: Node): Promise<void> {
    await until('a button to be of use', () => evaluate(isAtRest, node))
    const origin = { type: 'element', element: { sharedId: node.sharedId } }
    await perform('pointer', [
      { type: 'pointerMove', x: 0, y: 0, origin },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 }
    ])
  }

  return {
    userContext,
    /** Script errors and violations of the page's content security policy. */
    faults,
    /** Requests of the page other than GET and OPTIONS. */
    sent,
    async goto(url: string): Promise<void> {
      const open = () => wire.send('browsingContext.navigate', { context, url, wait: 'complete' })
      try {
        await open()
      } catch (cause) {
        // by a page that was still being opened in the tab, such as its blank first one
        if (!(cause instanceof Error && cause.message.includes('NS_BINDING_ABORTED'))) throw cause
        await open()
      }
    },
    /**
     * Holds back each request of the tab whose URL contains `part`, until the page is left. Returns
     * the URLs that are held back.
     */
    async hold(part: string): Promise<readonly string[]> {
      const held: string[] = []
      wire.listen('network.beforeRequestSent', ({ context: from, isBlocked, request }) => {
        if (from !== context || !isBlocked) return
        if (request.url.includes(part)) held.push(request.url)
        else wire.send('network.continueRequest', { request: request.request }).catch(() => {}) // left
      })
      await wire.send('network.addIntercept', {
        phases: ['beforeRequestSent'],
        contexts: [context]
      })
      return held
    },
    async click(role: Role, name: string): Promise<void> {
      await click(await find(role, name))
    },
    async see(role: Role, name: string): Promise<void> {
      await find(role, name)
    },
    /**
     * Types at the end of the field with this label. Finds it by label and not by role, because
     * password fields have no role.
     */
    async type(name: string, text: string): Promise<void> {
      // a page that is still loading can replace the field, or move it from under the pointer
      await until(`the field “${name}” to have the focus`, async () => {
        const field = await locate('field', { name })
        await click(field)
        return evaluate('element => document.activeElement === element', field)
      })
      // soon after another click, Firefox counts a double click, which selects text
      await this.press(endKey, ...text)
    },
    async press(...keys: string[]): Promise<void> {
      const strokes = keys.flatMap(value => [
        { type: 'keyDown', value },
        { type: 'keyUp', value }
      ])
      await perform('key', strokes)
    },
    /** Waits until the text of the page matches. */
    async read(words: RegExp): Promise<void> {
      await until(String(words), async () => words.test(String(await evaluate(readText))))
    },
    async choose(file: string): Promise<void> {
      const css = { type: 'css', value: 'main input[type=file]' }
      const { sharedId } = await until('the file input', async () => (await locateNow(css))[0])
      await wire.send('input.setFiles', { context, element: { sharedId }, files: [resolve(file)] })
    },
    async arrive(url: RegExp): Promise<void> {
      await until(String(url), async () => url.test(String(await evaluate('() => location.href'))))
    },
    evaluate
  }
}

interface Node {
  sharedId: string
}

/** Sources of functions that run in the page. */
const readText = '() => document.body.innerText'
const describeFocus = `() => {
  const { tagName, id, value } = document.activeElement ?? {}
  return [document.hasFocus(), tagName, id, value].join(' ')
}`

/**
 * Source of a function that runs in the page. It returns whether an element is enabled, stands
 * still and is not covered, because a click on a moving element could miss it.
 */
const isAtRest = `async element => {
  element.scrollIntoView({ block: 'center', behavior: 'instant' })
  const before = element.getBoundingClientRect()
  // a window that is not drawn has no frames to wait for
  await new Promise(resolve => setTimeout(resolve, 60))
  const { x, y, width, height } = element.getBoundingClientRect()
  const top = document.elementFromPoint(x + width / 2, y + height / 2)
  const labels = [...(element.labels ?? [])]
  const isReached = [element, ...labels].some(each => each.contains(top))
  return !element.disabled && isReached && x === before.x && y === before.y
}`

async function until<Found>(what: string, look: () => Promise<Found>): Promise<NonNullable<Found>> {
  const deadline = performance.now() + patienceMs
  let last: unknown
  while (performance.now() < deadline) {
    try {
      const found = await look()
      if (found) return found
    } catch (cause) {
      // the page was closed while the function ran
      last = cause
    }
    // a look slows down the page it waits for
    await sleep(250)
  }
  throw new Error(`not found in ${patienceMs / 1000} s: ${what}`, { cause: last })
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stderr) throw new Error('the errors of Firefox are not read')
  for await (const line of createInterface(child.stderr)) {
    const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1]
    if (!address) continue
    // Firefox would block on a pipe that nobody reads
    child.stderr.resume()
    return address
  }
  throw new Error('Firefox ended while starting')
}

type Wire = Awaited<ReturnType<typeof openWire>>

/** The BiDi commands used here, with the parts of their results that are read. */
interface Commands {
  'session.new': object
  'session.subscribe': object
  'script.callFunction':
    | { type: 'success'; result: { value: string } }
    | { type: 'exception'; exceptionDetails: { text: string } }
  'browser.createUserContext': { userContext: string }
  'browsingContext.create': { context: string }
  'browsingContext.navigate': object
  'browsingContext.locateNodes': { nodes: Node[] }
  'input.performActions': object
  'network.addIntercept': object
  'network.continueRequest': object
  'input.setFiles': object
}

interface Events {
  'log.entryAdded': { level: string; text: string; source: { context?: string } }
  'network.beforeRequestSent': {
    context: string | null
    isBlocked: boolean
    request: { request: string; method: string; url: string; bodySize: number }
  }
}

type Message =
  | { type: 'event'; method: string; params: never }
  | { type: 'success'; id: number; result: never }
  | { type: 'error'; id: number; error: string; message: string }

async function openWire(address: string) {
  const socket = new WebSocket(`${address}/session`)
  const waiting = new Map<number, PromiseWithResolvers<never>>()
  const ears: { method: string; hear: (params: never) => void }[] = []
  let lastId = 0
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data) as Message // as: the protocol's own shape
    if (message.type === 'event') {
      for (const { method, hear } of ears) if (method === message.method) hear(message.params)
      return
    }
    const answer = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.type === 'success') answer?.resolve(message.result)
    else answer?.reject(new Error(`${message.error}: ${message.message}`))
  })
  socket.addEventListener('close', () => {
    for (const answer of waiting.values()) answer.reject(new Error('Firefox is gone'))
  })
  await once(socket, 'open')
  return {
    send<Name extends keyof Commands>(method: Name, params: object = {}): Promise<Commands[Name]> {
      const id = ++lastId
      const answer = Promise.withResolvers<never>()
      waiting.set(id, answer)
      socket.send(JSON.stringify({ id, method, params }))
      return answer.promise
    },
    listen<Name extends keyof Events>(method: Name, hear: (params: Events[Name]) => void): void {
      ears.push({ method, hear })
    },
    close: () => socket.close()
  }
}
