import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type * as z from 'zod/mini'
import { call } from '../../src/contract/call.ts'
import type { Endpoint } from '../../src/contract/endpoint.ts'
import { getChallenge, logIn } from '../../src/contract/sessions.ts'
import { createUser } from '../../src/contract/users.ts'
import type { ChallengePurpose } from '../../src/core/challenge.ts'
import { createApp } from '../../src/server/app.ts'
import { openBlobs } from '../../src/server/blobs.ts'
import { type CompanyId, companyId } from '../../src/server/db/scope.ts'
import type { Deps, Settings, Tenant } from '../../src/server/domain/deps.ts'
import { openTenants } from '../../src/server/domain/domains.ts'
import { openKeys } from '../../src/server/keys.ts'
import { createWakes } from '../../src/server/wakes.ts'
import { makeDb } from './database.ts'
import { makeKeys, type TestKeys } from './keys.ts'

/** Somebody who may sign up: an e-mail and the key that a browser would derive for it. */
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

/** A service with two companies and a clock that the test sets; hosts as the tests of accounts need them. */
export async function makeService(options: Partial<Settings> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'accounts-'))
  const database = await makeDb()
  let now = Date.now()
  const clock = () => new Date(now)
  const keys = await openKeys({ directory: join(folder, 'keys'), recordedKekId: undefined, clock })
  const facts: object[] = []
  const note = (entry: object, text: string) => facts.push({ ...entry, text })
  const deps: Deps = {
    db: database.db,
    keys,
    blobs: openBlobs(folder),
    clock,
    random: length => new Uint8Array(randomBytes(length)),
    log: { info: note, warn: note, error: note },
    wakes: createWakes(),
    settings: {
      scheme: 'http',
      port: 4321,
      loopback: true,
      maxUploadBytes: 1_000_000,
      limits: {
        signInPerAddressMinute: 100_000,
        verifyPerAddressMinute: 100_000,
        verifyPerAddressDay: 100_000,
        verifyPerCompanyDay: 100_000,
        verifyPerUserMinute: 100_000
      },
      ...options
    }
  }
  const companies = {
    localhost: await insertCompany(database.owner, 'Here', ['localhost', 'second.localhost']),
    demo: await insertCompany(database.owner, 'Demo', ['demo.localhost', 'docs.demo.test'])
  }
  await database.owner.query(`insert into domain select company_id, gen_random_uuid(),
    'closed.localhost', name, title, false, locale, theme, contact, version, verified_at
    from domain where host = 'localhost'`)
  const tenants = openTenants(deps)
  const app = createApp(deps, tenants)

  /** One request as the server sees it: to the host's API, from an address. */
  function fetchFrom(request: Request, { address = '192.0.2.1', headers = {} }: CallOptions = {}) {
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
    return Promise.resolve(app.request(request, undefined, { remoteAddress: address }))
  }

  function callAt<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
    host: string,
    endpoint: Endpoint<Input, Output>,
    input: z.input<Input>,
    callOptions: CallOptions = {}
  ): Promise<z.output<Output>> {
    return call(endpoint, input, {
      base: `http://api.${host}`,
      token: callOptions.token,
      fetch: request => fetchFrom(new Request(request), callOptions)
    })
  }

  async function challengeFor(
    { host, email }: Pick<Account, 'host' | 'email'>,
    purpose: ChallengePurpose = 'login'
  ): Promise<string> {
    return (await callAt(host, getChallenge, { email, purpose })).challenge
  }

  /** What a browser sends to sign up. */
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

  async function signIn(account: Account, callOptions: CallOptions & { device?: string } = {}) {
    const challenge_response = account.keys.respond(await challengeFor(account))
    const { device } = callOptions
    const input = { email: account.email, challenge_response, ...(device ? { device } : {}) }
    return callAt(account.host, logIn, input, callOptions)
  }

  async function tenantOf(host: string): Promise<Tenant> {
    const tenant = await tenants.resolve(host)
    if (!tenant) throw new Error(`no tenant for ${host}`)
    return tenant
  }

  return {
    app,
    deps,
    companies,
    owner: database.owner,
    facts,
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
    async [Symbol.asyncDispose]() {
      tenants[Symbol.dispose]()
      await database[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

export type Service = Awaited<ReturnType<typeof makeService>>

export function newAccount(host = 'localhost'): Account {
  return { host, email: `ada-${randomBytes(6).toString('hex')}@example.com`, keys: makeKeys() }
}

async function insertCompany(
  owner: { query(text: string, values?: unknown[]): Promise<{ rows: { id: string }[] }> },
  name: string,
  hosts: string[]
): Promise<CompanyId> {
  const { rows } = await owner.query(
    `insert into company (id, name, created_at) values (gen_random_uuid(), $1, now()) returning id`,
    [name]
  )
  const id = companyId(rows[0]?.id ?? '')
  await owner.query(
    `insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at)
     select $1, gen_random_uuid(), host, $2, $2, true, 'en',
       '{"colors": {"dark": false}, "favicon": "<svg/>", "logo": "<svg/>"}', now()
     from unnest($3::text[]) host`,
    [id, name, hosts]
  )
  await owner.query(
    `insert into "group" (company_id, id, name, is_default, features, created_at)
     values ($1, gen_random_uuid(), 'Everybody', true, '{deposit}', now())`,
    [id]
  )
  return id
}
