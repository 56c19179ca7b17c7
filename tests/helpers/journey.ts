import { test as base, expect } from '@playwright/test'

interface Journey {
  /** Console lines that match are expected, because the test provokes them. */
  provoked: RegExp
  quietConsole: undefined
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
