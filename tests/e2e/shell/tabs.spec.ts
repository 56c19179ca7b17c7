import { type BrowserContext, expect, type Page, type Request } from '@playwright/test'
import { test } from '../../helpers/e2e/journey.ts'
import {
  chooseFiles,
  homeAddress,
  rowOf,
  sealedWord,
  startSession,
  textFile
} from '../../helpers/e2e/page.ts'

/** Ten tabs are in tests/api/history/tabs.test.ts. */
const count = 4

test('tabs show a deposit over one stream, and sign out together', async ({ browser }) => {
  test.setTimeout(300_000)
  const context = await browser.newContext()
  const streams = watchStreams(context)
  const [first, ...others] = await openTabs(context)

  await test.step('all show it, one stream is open', async () => {
    await depositIn(context, 'tabs-one.pdf', others)
    await expect.poll(streams).toHaveLength(1)
  })

  await test.step('another tab takes over when the one with the stream is closed', async () => {
    const [leader] = streams()
    if (!leader) throw new Error('no stream is open')
    await leader.frame().page().close()
    await expect.poll(() => streams().length).toBe(1)
    const left = [first, ...others].filter(page => page && !page.isClosed())
    await depositIn(context, 'tabs-two.pdf', left)
    await expect.poll(streams).toHaveLength(1)
  })

  await test.step('one signs out, and all are', async () => {
    const left = context.pages().filter(page => page.url().endsWith('/history'))
    const [leaving, ...staying] = left
    if (!leaving) throw new Error('no tab is left')
    await leaving.getByRole('button', { name: /Toni Tabs/ }).click()
    await leaving
      .getByRole('menuitem', { name: 'Sign out' })
      .or(leaving.getByRole('button', { name: 'Sign out' }))
      .first()
      .click()
    for (const page of staying) {
      await expect(page).toHaveURL(/\/en\/sign-in/)
    }
    await expect.poll(() => streams().length).toBe(0)
  })
  await context.close()
})

async function openTabs(context: BrowserContext): Promise<[Page, ...Page[]]> {
  const first = await context.newPage()
  await startSession(first, homeAddress(), { username: 'Toni Tabs' })
  await first.goto('/en/history')
  const others: Page[] = []
  while (others.length < count - 1) {
    const page = await context.newPage()
    await page.goto('/en/history')
    others.push(page)
  }
  for (const page of [first, ...others]) {
    await expect(page.getByRole('heading', { name: 'Documents you deposit' })).toBeVisible()
  }
  return [first, ...others]
}

/** Deposits a file in a new page. Expects that this page and the given tabs show it as recorded. */
async function depositIn(
  context: BrowserContext,
  name: string,
  tabs: (Page | undefined)[]
): Promise<void> {
  const page = await context.newPage()
  await page.goto('/en/deposit')
  await chooseFiles(page, textFile(name))
  await expect(rowOf(page, name).getByText(sealedWord)).toBeVisible()
  await Promise.all(
    tabs.map(async tab => {
      const row = tab ? rowOf(tab, name) : undefined
      // without the stream it would come after 30 s
      if (row) await expect(row.getByText(sealedWord)).toBeVisible()
    })
  )
  await page.close()
}

/** Watches the event streams of a browser. Returns a function that returns those that are open. */
function watchStreams(context: BrowserContext): () => Request[] {
  const open = new Set<Request>()
  const isStream = (request: Request) =>
    request.method() === 'GET' && request.url().endsWith('/process/sse')
  context.on('request', request => {
    if (isStream(request)) open.add(request)
  })
  context.on('requestfinished', request => open.delete(request))
  context.on('requestfailed', request => open.delete(request))
  return () => [...open].filter(request => !request.frame().page().isClosed())
}
