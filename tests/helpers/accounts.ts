import { randomBytes } from 'node:crypto'
import type * as z from 'zod/mini'
import { call } from '../../src/contract/kit/call.ts'
import type { Endpoint } from '../../src/contract/kit/endpoint.ts'
import { getChallenge, logIn } from '../../src/contract/sessions.ts'
import { createUser } from '../../src/contract/users.ts'
import type { ChallengePurpose } from '../../src/core/keys/challenge.ts'
import type { InstallationSettings, Tenant } from '../../src/server/domain/deps.ts'
import { makeApp } from './app.ts'
import { makeKeys, type TestKeys } from './keys.ts'

/** A person who may sign up: an e-mail and the key that a browser would derive for it. */
export interface Account {
  host: string
  email: string
  keys: TestKeys
}

interface CallOptions {
  token?: string | undefined
  address?: string
  headers?: Record<string, string>
}

/**
 * Starts `makeApp` with a stopped clock and several hosts. One company has `localhost`,
 * `second.localhost` and `closed.localhost`, which allows no sign-up. Another has `demo.localhost`
 * and `docs.demo.test`.
 */
export async function makeMultiHostApp(settings: Partial<InstallationSettings> = {}) {
  const made = await makeApp({ settings })
  const { deps } = made
  let now = Date.now()
  deps.clock = () => new Date(now)
  const companies = {
    localhost: await made.addCompany('Here', 'localhost'),
    demo: await made.addCompany('Demo', 'demo.localhost')
  }
  await addHost('second.localhost', 'localhost', true)
  await addHost('closed.localhost', 'localhost', false)
  await addHost('docs.demo.test', 'demo.localhost', true)

  async function addHost(host: string, like: string, isPublic: boolean): Promise<void> {
    await made.owner.query(
      `insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at)
       select company_id, gen_random_uuid(), $1, name, title, $3, locale, theme, verified_at
       from domain where host = $2`,
      [host, like, isPublic]
    )
    deps.signals.domains.send(host)
  }

  function fetchFrom(
    request: Request,
    { address, headers = {} }: CallOptions = {}
  ): Promise<Response> {
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
    return made.fetch(request, address)
  }

  function callAt<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
    host: string,
    endpoint: Endpoint<Input, Output>,
    input: z.input<Input>,
    options: CallOptions = {}
  ): Promise<z.output<Output>> {
    return call(endpoint, input, {
      base: `http://api.${host}`,
      token: options.token,
      fetch: request => fetchFrom(new Request(request), options)
    })
  }

  async function challengeFor(
    { host, email }: Pick<Account, 'host' | 'email'>,
    purpose: ChallengePurpose = 'login'
  ): Promise<string> {
    return (await callAt(host, getChallenge, { email, purpose })).challenge
  }

  async function signUpInput(account: Account) {
    const nonce = await challengeFor(account, 'signup')
    const { host: aud, email } = account
    const public_key_jwt = account.keys.publicKeyJwt({ aud, email, purpose: 'signup', nonce })
    return { email, username: 'Ada Lovelace', public_key_jwt }
  }

  async function signUp(host = 'localhost'): Promise<Account & { id: string }> {
    const account = newAccount(host)
    const { id } = await callAt(host, createUser, await signUpInput(account))
    return { ...account, id }
  }

  async function signIn(account: Account, options: CallOptions & { device?: string } = {}) {
    const challenge_response = account.keys.respond(await challengeFor(account))
    const { device } = options
    const input = { email: account.email, challenge_response, ...(device ? { device } : {}) }
    return callAt(account.host, logIn, input, options)
  }

  async function tenantOf(host: string): Promise<Tenant> {
    const tenant = await made.tenants.resolve(host)
    if (!tenant) throw new Error(`no tenant for ${host}`)
    return tenant
  }

  return {
    deps,
    companies,
    owner: made.owner,
    sentMails: made.sentMails,
    mailTo: made.mailTo,
    allMailsSent: made.allMailsSent,
    logged: made.logged,
    request: made.request,
    call: callAt,
    fetch: fetchFrom,
    challengeFor,
    signUpInput,
    signUp,
    signIn,
    tenantOf,
    wait(seconds: number) {
      now += seconds * 1000
    },
    [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]()
  }
}

export type MultiHostApp = Awaited<ReturnType<typeof makeMultiHostApp>>

export function newAccount(host = 'localhost'): Account {
  return { host, email: `ada-${randomBytes(6).toString('hex')}@example.com`, keys: makeKeys() }
}
