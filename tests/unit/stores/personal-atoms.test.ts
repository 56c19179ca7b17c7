import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { setBrowserEnvironment } from '../../../src/stores/environment.ts'
import { personalAtoms } from '../../../src/stores/personal-atoms.ts'
import { beginSession, signOut } from '../../../src/stores/sessions.ts'
import { makeBrowser, makeToken } from '../../helpers/browser.ts'

/** Stores without data of a person. All others are created by `personalAtom()`. */
const impersonal = [
  'sessions.ts: $session', // ends with the session by itself
  'accounts/setup.ts: $setup',
  // rows of a personal store, which go with it
  'deposits/deposit-entry.ts: $state',
  'deposits/deposit-entry.ts: $state',
  'personal-atoms.ts: store'
]

test('every store of a person’s data is made so that the end of the session empties it', () => {
  const bare = readdirSync('src/stores', { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .flatMap(file => {
      const text = readFileSync(`src/stores/${file}`, 'utf8')
      const made = text.matchAll(/(\$?\w+)\s*(?:=|:)\s*(?:atom|map|deepMap)\s*[(<]/g)
      return [...made].map(([, name]) => `${file}: ${name}`)
    })
  expect(bare.sort()).toEqual(impersonal.sort())
})

/** A value that the test puts into every store as the data of a person. */
const adas: unknown[] = Object.assign([], { answer() {} })

// each creates its stores
await Promise.all(
  Object.values(import.meta.glob('../../../src/stores/**/*.ts')).map(load => load())
)

afterEach(() => setBrowserEnvironment(undefined))

test('after a sign-out every personal store has its first value', async () => {
  await openBrowser()
  expect(personalAtoms.size).toBeGreaterThan(10)
  for (const { store } of personalAtoms) store.set(adas)
  await signOut()
  for (const { store, initial } of personalAtoms) expect(store.get()).toBe(initial)
})

test('what waits for a person to sign in again stays until somebody else does', async () => {
  const { signInAs } = await openBrowser()
  for (const { store } of personalAtoms) store.set(adas)
  const kept = () => [...personalAtoms].filter(({ store }) => store.get() === adas)
  await signInAs('ada')
  expect(kept().map(({ lifetime }) => lifetime)).toContain('person')
  expect(kept().map(({ lifetime }) => lifetime)).not.toContain('session')
  await signInAs('ben')
  expect(kept()).toEqual([])
})

async function openBrowser() {
  const browser = makeBrowser()
  const tab = browser.openTab('http://localhost:4321/en', () => new Response(null, { status: 503 }))
  setBrowserEnvironment(tab.environment)
  const signInAs = (sub: string) =>
    beginSession(makeToken({ sub, exp: browser.now() / 1000 + 3600 }))
  await signInAs('ada')
  return { signInAs }
}
