import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../../src/contract/kit/errors.ts'
import type { OwnAccount } from '../../../src/contract/users.ts'
import {
  $passwordPrompt,
  confirmPassword,
  withPasswordConfirmation
} from '../../../src/stores/confirmation.ts'
import { setBrowserEnvironment } from '../../../src/stores/environment.ts'
import { beginSession, signOut } from '../../../src/stores/sessions.ts'
import { $user } from '../../../src/stores/signed-in-user.ts'
import { makeBrowser, makeToken } from '../../helpers/browser.ts'

const ada: OwnAccount = {
  id: '0199f2a0-0000-7000-8000-000000000001',
  email: 'ada@example.com',
  username: 'Ada Lovelace',
  initials: 'AL',
  locale: 'en',
  features: [],
  permissions: ['admin'],
  company: { id: '0199f2a0-0000-7000-8000-00000000000c', name: 'Acme' },
  usage_remaining: { requests: null, storage: null }
}

let browser: ReturnType<typeof makeBrowser>
let tab: ReturnType<ReturnType<typeof makeBrowser>['openTab']>
/** The data of the person on the server. Undefined while the server does not answer. */
let account: OwnAccount | undefined
let prompts: number
let stop: () => void

beforeEach(async () => {
  account = ada
  prompts = 0
  browser = makeBrowser()
  tab = browser.openTab('http://localhost:4321/en', request => {
    if (!account) return new Response(null, { status: 503 })
    if (request.url.endsWith('/user')) return Response.json(account)
    const isChallenge = request.url.includes('/challenge')
    return isChallenge
      ? Response.json({ challenge: 'challenge', kdf: 'kdf' })
      : new Response(null, { status: 204 })
  })
  setBrowserEnvironment(tab.environment)
  await signIn()
  stop = $passwordPrompt.listen(prompt => {
    if (!prompt) return
    prompts += 1
    queueMicrotask(() => prompt.answer(true))
  })
})
afterEach(async () => {
  stop()
  await signOut()
  setBrowserEnvironment(undefined)
})

test('the server is asked once in four minutes whether the password was proved lately', async () => {
  account = { ...ada, confirmed: true }
  expect(await make()).toEqual({ asked: 1, prompts: 0 })
  browser.sleep(239_000)
  expect(await make()).toEqual({ asked: 0, prompts: 0 })
  browser.sleep(2_000)
  account = ada
  expect(await make()).toEqual({ asked: 1, prompts: 1 })
})

test('what this tab has proved itself is not asked, until the session ends', async () => {
  await confirmPassword('correct horse')
  expect(await make()).toEqual({ asked: 0, prompts: 0 })
  await signOut()
  await signIn()
  expect(await make()).toEqual({ asked: 1, prompts: 1 })
})

test('a proof that the server takes no more is asked for, and not relied on again', async () => {
  await confirmPassword('correct horse')
  const refusal = new AppError('confirmation_required', 'refused')
  expect(await make(refusal)).toEqual({ asked: 0, prompts: 1 })
  expect(await make()).toEqual({ asked: 1, prompts: 1 })
})

test('without an answer of the server the call itself says why, and no password is asked for', async () => {
  account = undefined
  const failure = new AppError('offline', 'no network')
  await expect(make(failure)).rejects.toBe(failure)
  expect(prompts).toBe(0)
})

test('nothing on the page changes in the middle of a call, nor the account', async () => {
  account = { ...ada, locale: 'fr', username: 'Ada', confirmed: true }
  await make()
  expect($user.get()).toEqual(ada)
  expect(tab.calls.filter(({ method }) => method === 'PUT')).toEqual([])
})

function signIn(): Promise<void> {
  return beginSession(makeToken({ sub: 'ada', exp: browser.now() / 1000 + 3600 }))
}

/**
 * Makes a call that always needs the password, and that fails with `failure` at first. Returns how
 * often the server and the person were asked.
 */
async function make(failure?: AppError) {
  const asked = () => tab.calls.filter(({ path }) => path.endsWith('/user')).length
  const before = { asked: asked(), prompts }
  const failures = failure ? [failure] : []
  await withPasswordConfirmation('createCompany', async () => {
    const error = failures.pop()
    if (error) throw error
  })
  return { asked: asked() - before.asked, prompts: prompts - before.prompts }
}
