import { test as base, expect, type Page } from '@playwright/test'

/** Factor by which the processor of the browser is slowed down. 1: not slowed down. */
const slowness = Number(process.env.E2E_SLOWNESS ?? 1)

interface Journey {
  /** Console lines that match are expected, because the test provokes them. */
  provoked: RegExp
  quietConsole: undefined
  openContexts: undefined
}

/** Matches the line that Chromium logs for a call that was refused or interrupted. */
const refusedCall = /^Failed to load resource: /

/**
 * Playwright's `test`, which also fails when any page of the test's own context logs an error or a
 * warning or throws an exception.
 */
export const test = base.extend<Journey>({
  provoked: [/(?!)/, { option: true }],
  quietConsole: [
    async ({ context, provoked }, use) => {
      if (slowness > 1) context.on('page', page => void slowDown(page))
      const faults: string[] = []
      const add = (text: string) => {
        if (!refusedCall.test(text) && !provoked.test(text)) faults.push(text)
      }
      context.on('console', message => {
        if (['error', 'warning'].includes(message.type())) add(message.text())
      })
      context.on('weberror', event => add(event.error().message))
      await use(undefined)
      expect(faults).toEqual([])
    },
    { auto: true }
  ],
  // contexts of other people would otherwise stay open, with their live streams, until the worker ends
  openContexts: [
    async ({ browser, context }, use) => {
      await use(undefined)
      const others = browser.contexts().filter(each => each !== context)
      await Promise.all(others.map(each => each.close()))
    },
    { auto: true }
  ]
})

/** Slows a page down, to find faults that only slow devices have. */
async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowness })
}
