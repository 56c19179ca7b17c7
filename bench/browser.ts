import { existsSync, readFileSync } from 'node:fs'
import { type Browser, type CDPSession, chromium } from '@playwright/test'

/** Closes the browser when `signal` is aborted, so that pending waits fail. */
export async function launchBrowser(signal?: AbortSignal): Promise<Browser> {
  const saved = '.cache/chromium'
  const found = existsSync(saved) ? readFileSync(saved, 'utf8').trim() : undefined
  const executablePath = process.env['CHROMIUM_PATH'] ?? found
  const browser = await chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    // Playwright would end this process at once, before it stops its services and prints its table
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  })
  const close = () => void browser.close()
  signal?.addEventListener('abort', close)
  browser.once('disconnected', () => signal?.removeEventListener('abort', close))
  return browser
}

/**
 * Returns the processor time of each task of the page's main thread of 10 ms or more, in
 * milliseconds, from the choice of a file on. Of the task that creates the chosen files, only the
 * dispatch of `change` counts, because the rest is not work of the page.
 */
export async function traceTasks(client: CDPSession): Promise<() => Promise<number[]>> {
  type Traced = {
    name: string
    pid: number
    tid: number
    ts: number
    dur?: number
    tdur?: number
    args?: { data?: object }
  }
  const tasks: Traced[] = []
  const choices: Traced[] = []
  client.on('Tracing.dataCollected', ({ value }) => {
    // as: the protocol declares these values as strings and sends objects
    for (const event of value as unknown as Traced[]) {
      if (event.name === 'EventDispatch' && Object(event.args?.data).type === 'change')
        choices.push(event)
      // shorter tasks are ignored; there are a million of them
      if (event.name === 'RunTask' && (event.tdur ?? 0) >= 10_000) tasks.push(event)
    }
  })
  await client.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: ['disabled-by-default-devtools.timeline', 'devtools.timeline']
    }
  })
  return async () => {
    const complete = new Promise<{ dataLossOccurred: boolean }>(resolve =>
      client.once('Tracing.tracingComplete', resolve)
    )
    await client.send('Tracing.end')
    if ((await complete).dataLossOccurred) throw new Error('the trace is not whole')
    const [page] = choices
    if (!page) throw new Error('the trace does not show the choice')
    const ofPage = tasks.filter(({ pid, tid }) => pid === page.pid && tid === page.tid)
    const holds = (task: Traced) => (choice: Traced) =>
      choice.ts >= task.ts && choice.ts <= task.ts + (task.dur ?? 0)
    return ofPage.map(task => ((choices.find(holds(task)) ?? task).tdur ?? 0) / 1000)
  }
}
