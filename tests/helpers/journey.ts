import { test as base, expect } from '@playwright/test'

interface Journey {
  /** What a test provokes: console lines that match are expected. */
  provoked: RegExp
  quietConsole: undefined
}

/** Chromium's own line about a call that was refused or cut off. */
const refusedCall = /^Failed to load resource: /

/**
 * Playwright's `test` whose pages must keep the console empty: an error, a warning or an exception of
 * any page in the test's own context fails it.
 */
export const test = base.extend<Journey>({
  provoked: [/(?!)/, { option: true }],
  quietConsole: [
    async ({ context, provoked }, use) => {
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
  ]
})
