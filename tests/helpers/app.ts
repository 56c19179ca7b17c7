import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as z from 'zod/mini'
import { listAllowedCategories } from '../../src/contract/categories.ts'
import { createDeposit } from '../../src/contract/deposits.ts'
import { call } from '../../src/contract/kit/call.ts'
import type { Endpoint } from '../../src/contract/kit/endpoint.ts'
import { getChallenge, logIn } from '../../src/contract/sessions.ts'
import { createUser } from '../../src/contract/users.ts'
import { openBlobs } from '../../src/server/adapters/blobs.ts'
import { createDnsLookup } from '../../src/server/adapters/dns.ts'
import { createForeignFiles } from '../../src/server/adapters/foreign-files.ts'
import { openInstallationKeys } from '../../src/server/adapters/keys.ts'
import { openLogFiles } from '../../src/server/adapters/log-files.ts'
import { createServiceSignals } from '../../src/server/adapters/signals.ts'
import type { Api } from '../../src/server/api/kit/context.ts'
import { apiHeadersFor } from '../../src/server/api/kit/responses.ts'
import { createApp } from '../../src/server/app.ts'
import { createCompany, type NewCompany } from '../../src/server/domain/companies/new-companies.ts'
import { openTenantCache } from '../../src/server/domain/companies/served-hosts.ts'
import type {
  CompanyId,
  Deps,
  InstallationSettings,
  MailMessage,
  MailSender
} from '../../src/server/domain/deps.ts'
import { createCompanySecretKeyReader } from '../../src/server/domain/evidence/company-keys.ts'
import { recordOrCheckRootSecretId } from '../../src/server/domain/installation/installation.ts'
import { productTheme } from '../../src/server/domain/installation/product-theme.ts'
import { createRateCounters } from '../../src/server/domain/limits/rate-counters.ts'
import { createAccessTokenReader } from '../../src/server/domain/sessions/access-tokens.ts'
import { createCallerWatch } from '../../src/server/domain/sessions/caller-watch.ts'
import { type CallLimits, createGate } from '../../src/server/http/gate.ts'
import { createClientAddressReader } from '../../src/server/http/hosts.ts'
import { createHttpServer, type HttpServerOptions } from '../../src/server/http/listener.ts'
import { createLogPages } from '../../src/server/http/log-pages.ts'
import { runJobs } from '../../src/server/jobs/job-runner.ts'
import {
  createDepositsFromUploadsJob,
  fetchRegistersJob,
  runImportsJob,
  sendMailsJob,
  workOnRegistersJob
} from '../../src/server/jobs/jobs.ts'
import { publishLogsJob } from '../../src/server/jobs/log-jobs.ts'
import { createUploadHandler } from '../../src/server/uploads/upload-routes.ts'
import type { Site } from '../../src/site/site.ts'
import { newEmail, uploadOf } from './client.ts'
import { makeDb } from './database.ts'
import { guardLogHeadLocks } from './head-locks.ts'
import { makeKeys, type TestKeys } from './keys.ts'
import { listenLocally } from './servers/listen.ts'
import { noOwners, noSite } from './site.ts'

type Limits = NewCompany['limits']

export interface CallOptions {
  token?: string
  idempotencyKey?: string
  version?: number
  address?: string
}

/** A person with a session, who calls the API as a browser would. */
export interface TestPerson {
  id: string
  company: CompanyId
  host: string
  email: string
  keys: TestKeys
  token: string
  /** Id of the category that the default group allows. */
  category: string
  call<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
    endpoint: Endpoint<Input, Output>,
    input: z.input<Input>,
    options?: CallOptions
  ): Promise<z.output<Output>>
}
export type TestApp = Awaited<ReturnType<typeof makeApp>>

/** Limits that no test reaches unintentionally. */
export const generousLimits: InstallationSettings['limits'] = {
  signInPerAddressMinute: 100_000,
  signUpPerAddressHour: 100_000,
  mailsPerAddressHour: 100_000,
  mailsPerCompanyDay: 100_000,
  mailTokensPerAddress: 100_000,
  verifyPerAddressMinute: 100_000,
  verifyPerAddressDay: 100_000,
  verifyPerCompanyDay: 100_000,
  verifyPerUserMinute: 100_000,
  publicPerAddressMinute: 100_000,
  reportsPerAddressMinute: 100_000,
  streamsPerUser: 5,
  streamsPerCompany: 500,
  streamsPerProcess: 5000
}

/** The product's bounds of a company. */
const usualBounds: InstallationSettings['bounds'] = {
  domains: 100,
  groups: 1000,
  categories: 500,
  dataSources: 50,
  people: 1_000_000,
  importBytes: 500_000_000,
  registerRows: 10_000_000
}

/** An address without a DNS server, so that no query gets an answer. */
const deadDns = '127.0.0.1:9'

const unlimited: Limits = { max_requests: null, max_requests_interval: null, max_storage: null }

/**
 * Starts the whole API with a real database and a real folder. It has the companies
 * `acme.localhost` and `beta.localhost` and a clock that the test can move. It opens a port when a
 * test needs one.
 */
export async function makeApp(
  options: {
    limits?: Partial<Limits>
    settings?: Partial<InstallationSettings>
    trustedProxies?: string[]
    /** Carries signals to and from other processes. Without it, there are no others. */
    notifications?: Parameters<typeof createServiceSignals>[0]
    /** Sends the mails. Without it, mails are collected in `sentMails`. */
    mails?: MailSender
    /**
     * Addresses of the DNS servers that are asked for the proof of a domain. Without them, no query
     * is answered.
     */
    dnsServers?: string[]
    /** `false`: a new domain counts as proved without a look-up in the DNS. */
    checksDns?: false
    /** By default, files of registers are also fetched from this machine. */
    foreignFiles?: Partial<Parameters<typeof createForeignFiles>[0]>
    /** `false` leaves mails unsent until the test sends them. */
    sendsMails?: false
    /** Checks, runs and undoes imports in the background, as the service does. */
    runsImports?: true
    /** Signs the logs in the background, as the service does. */
    publishesLogs?: true
    /** Serves the pages. Without it, requests to page hosts are refused. */
    site?: Pick<Site, 'answer'>
    /**
     * Returns the delay of the event loop in milliseconds, as the API should see it. While the
     * delay is long, the API refuses calls without a token. Without this function, the delay is 0.
     */
    lagMs?: () => number
    slowest?: HttpServerOptions['slowest']
    headMs?: HttpServerOptions['headMs']
    /** Of files of logs that readers have not taken yet. */
    maxLogSendingBytes?: number
    /** Adds calls to the API that the product does not have. */
    mount?: (api: Api) => void
    /**
     * Maximum number of calls that may run at the same time. The product's defaults when absent.
     */
    callLimits?: CallLimits
  } = {}
) {
  guardLogHeadLocks()
  const folder = await mkdtemp(join(tmpdir(), 'vidimus-app-'))
  const database = await makeDb()
  let offset = 0
  const clock = () => new Date(Date.now() + offset)
  const stopping = new AbortController()
  const logged: { level: string; facts: object; text: string }[] = []
  const note = (level: string) => (facts: object, text: string) => {
    logged.push({ level, facts, text })
  }
  const sentMails: MailMessage[] = []
  const keep = async (mail: MailMessage) => {
    sentMails.push(mail)
    return 'sent' as const
  }
  const { db } = database
  const log = { info: note('info'), warn: note('warn'), error: note('error') }
  const signals = createServiceSignals(options.notifications)
  const keys = await openInstallationKeys({
    directory: join(folder, 'keys'),
    recordedRootSecretId: undefined,
    clock
  })
  const settings: Deps['settings'] = {
    scheme: 'http',
    port: undefined,
    dev: true,
    hasPublicUrl: false,
    mailServer: false,
    maxUploadBytes: 5_000_000_000,
    limits: { ...generousLimits },
    bounds: usualBounds,
    logBatchMs: 200,
    platformOrigin: undefined,
    ...options.settings
  }
  const tenants = openTenantCache({ db, clock, signals, settings })
  const deps: Deps = {
    db,
    keys,
    companyKeys: createCompanySecretKeyReader({ db, keys }),
    tokens: createAccessTokenReader(keys),
    counters: createRateCounters({ db, clock }),
    blobs: openBlobs(join(folder, 'documents')),
    logFiles: openLogFiles(join(folder, 'log')),
    mails: options.mails ?? { send: keep },
    dns: options.checksDns === false ? undefined : createDnsLookup(options.dnsServers ?? [deadDns]),
    foreignFiles: createForeignFiles({
      allowsLoopback: true,
      ownAddresses: [],
      ...options.foreignFiles
    }),
    clock,
    random: length => new Uint8Array(randomBytes(length)),
    log,
    signals,
    callers: createCallerWatch({ db, clock, log, signals }, tenants.companyOf),
    process: undefined,
    settings,
    stopping: stopping.signal
  }
  await recordOrCheckRootSecretId(deps)
  const limits = { ...unlimited, ...options.limits }
  const companies: Record<string, CompanyId> &
    Record<'acme.localhost' | 'beta.localhost', CompanyId> = {
    'acme.localhost': await addCompany('Acme', 'acme.localhost'),
    'beta.localhost': await addCompany('Beta', 'beta.localhost')
  }
  const { lagMs, callLimits } = options
  const gate = createGate(callLimits)
  const app = createApp(deps, tenants, lagMs && { lagMs })
  options.mount?.(app)
  const importing = options.runsImports
    ? [runImportsJob(deps), fetchRegistersJob(deps), workOnRegistersJob(deps)]
    : []
  const publishing = options.publishesLogs ? [publishLogsJob(deps)] : []
  const sending = options.sendsMails === false ? [] : [sendMailsJob(deps)]
  const jobs = runJobs(
    [createDepositsFromUploadsJob(deps), ...importing, ...publishing, ...sending],
    deps.log
  )
  const addressOf = createClientAddressReader(options.trustedProxies ?? [])
  const { maxLogSendingBytes } = options
  const server = createHttpServer({
    pages: { site: options.site ?? noSite, resolve: tenants.resolve },
    api: { tenants, app, uploads: createUploadHandler(deps), owners: noOwners },
    logs: createLogPages({
      deps,
      tenants,
      gate,
      addressOf,
      headers: apiHeadersFor(deps.settings),
      ...(maxLogSendingBytes === undefined ? {} : { maxSendingBytes: maxLogSendingBytes })
    }),
    addressOf,
    gate,
    log: deps.log,
    ...(options.slowest ? { slowest: options.slowest } : {}),
    ...(options.headMs === undefined ? {} : { headMs: options.headMs })
  })
  let port: number | undefined

  async function addCompany(name: string, host: string): Promise<CompanyId> {
    const domain = { host, name, title: name, public: true, theme: productTheme }
    return createCompany(deps, { name, domains: [domain], locale: 'en', limits })
  }

  /** Passes a request to the app directly, without a socket. */
  async function fetchApp(request: Request, address = '192.0.2.1'): Promise<Response> {
    return app.fetch(request, { remoteAddress: address })
  }

  function callAt<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
    host: string,
    endpoint: Endpoint<Input, Output>,
    input: z.input<Input>,
    { token, idempotencyKey, version, address }: CallOptions = {}
  ): Promise<z.output<Output>> {
    return call(endpoint, input, {
      base: `http://api.${host}`,
      token,
      idempotencyKey,
      version,
      fetch: (url, init) => fetchApp(new Request(url, init), address)
    })
  }

  async function signUp(host = 'acme.localhost'): Promise<TestPerson> {
    const keys = makeKeys()
    const email = newEmail()
    const { challenge: nonce } = await callAt(host, getChallenge, { email, purpose: 'signup' })
    const public_key_jwt = keys.publicKeyJwt({ aud: host, email, purpose: 'signup', nonce })
    const { id } = await callAt(host, createUser, {
      email,
      username: 'Ada Lovelace',
      public_key_jwt
    })
    const token = await signIn({ host, email, keys })
    const asPerson = <Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
      endpoint: Endpoint<Input, Output>,
      input: z.input<Input>,
      callOptions: CallOptions = {}
    ) => callAt(host, endpoint, input, { token, ...callOptions })
    const [category] = await asPerson(listAllowedCategories, {})
    if (!category) throw new Error('the default group allows no category')
    const { rows } = await database.owner.query('select company_id from "user" where id = $1', [id])
    const company: CompanyId = rows[0].company_id
    return { id, company, host, email, keys, token, category: category.id, call: asPerson }
  }

  /** Starts another session of a person. Returns its token. */
  async function signIn(who: { host: string; email: string; keys: TestKeys }): Promise<string> {
    const { host, email, keys } = who
    const { challenge } = await callAt(host, getChallenge, { email })
    const challenge_response = keys.respond(challenge)
    return (await callAt(host, logIn, { email, challenge_response })).access_token
  }

  /**
   * Sends a request over a real port, under any host name: `*.localhost` need not resolve. Returns
   * the response. For an event stream, returns only its first piece and closes the connection.
   */
  async function request(
    host: string,
    { method = 'GET', path = '/', headers = {}, body }: RawRequest
  ): Promise<RawResponse> {
    const at = await listen()
    return new Promise((resolve, reject) => {
      const outgoing = http.request({
        host: '127.0.0.1',
        port: at,
        method,
        path,
        headers: { host, ...headers }
      })
      outgoing.once('error', reject)
      outgoing.once('response', async response => {
        const chunks: Buffer[] = []
        const endless = response.headers['content-type']?.startsWith('text/event-stream')
        for await (const chunk of response) {
          chunks.push(chunk)
          if (endless) break
        }
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks)
        })
      })
      outgoing.end(body)
    })
  }

  async function listen(): Promise<number> {
    port ??= await listenLocally(server)
    return port
  }

  /**
   * Reserves an upload for a file with these bytes. Returns the request and the address of the
   * upload.
   */
  async function reserve(person: TestPerson, bytes: Uint8Array, name = 'report.pdf', key?: string) {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const input = {
      name,
      size: bytes.length,
      media_type: 'application/pdf',
      original: sha256,
      stored: sha256,
      category: person.category,
      again: true
    }
    const options = key === undefined ? {} : { idempotencyKey: key }
    return uploadOf(await person.call(createDeposit, input, options))
  }

  function patch(person: TestPerson, upload: string, bytes: Uint8Array, offset = 0) {
    return request(`api.${person.host}`, {
      method: 'PATCH',
      path: upload,
      headers: {
        authorization: `Bearer ${person.token}`,
        'tus-resumable': '1.0.0',
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
        'content-length': String(bytes.length)
      },
      body: bytes
    })
  }

  /** Requests the state of an upload (HEAD), or cancels the upload (DELETE). */
  function tus(person: TestPerson, method: 'HEAD' | 'DELETE', upload: string) {
    const headers = { authorization: `Bearer ${person.token}`, 'tus-resumable': '1.0.0' }
    return request(`api.${person.host}`, { method, path: upload, headers })
  }

  /** Deposits a file with one `PUT /deposit`. */
  function put(
    person: TestPerson,
    bytes: Uint8Array,
    query: Record<string, string> = { category: person.category },
    headers: Record<string, string> = {}
  ) {
    return request(`api.${person.host}`, {
      method: 'PUT',
      path: `/deposit?${new URLSearchParams({ name: 'a.pdf', ...query })}`,
      headers: {
        authorization: `Bearer ${person.token}`,
        'content-length': String(bytes.length),
        ...headers
      },
      body: bytes
    })
  }

  function content(person: TestPerson, deposit_id: string, headers: Record<string, string> = {}) {
    return request(`api.${person.host}`, {
      path: `/deposit/${deposit_id}/content`,
      headers: { authorization: `Bearer ${person.token}`, ...headers }
    })
  }

  /** Deposits a file and waits until its request is `done` or `failed`. */
  async function deposit(person: TestPerson, bytes: Uint8Array, name?: string) {
    const { request: reserved, upload } = await reserve(person, bytes, name)
    const answer = await patch(person, upload, bytes)
    if (answer.status !== 204) throw new Error(`PATCH answered ${answer.status}: ${answer.body}`)
    return until(person, reserved.id, ['done', 'failed'])
  }

  /** Waits until a request has one of these states. Returns the request. */
  async function until(person: TestPerson, id: string, states: string[]) {
    const { getRequest } = await import('../../src/contract/requests.ts')
    for (let tries = 0; tries < 3000; tries++) {
      const found = await person.call(getRequest, { id })
      if (states.includes(found.state)) return found
      await sleep(20)
    }
    throw new Error(`request ${id} did not become ${states.join(' or ')}`)
  }

  /**
   * Waits for the newest mail of a kind to an address. Returns the mail with the token of its link.
   */
  async function mailTo(
    email: string,
    kind: MailMessage['kind']
  ): Promise<MailMessage & { token: string }> {
    for (let tries = 0; tries < 3000; tries++) {
      const found = sentMails.findLast(mail => mail.to === email && mail.kind === kind)
      if (found) {
        const { hash } = new URL(found.link)
        return { ...found, token: new URLSearchParams(hash.slice(1)).get('t') ?? '' }
      }
      await sleep(10)
    }
    throw new Error(`no ${kind} was mailed to ${email}`)
  }

  /** Waits until no mail is due or being sent. */
  async function allMailsSent(): Promise<void> {
    for (let tries = 0; tries < 3000; tries++) {
      const { rows } = await database.owner.query(
        'select 1 from mail where attempts > 0 or next_at <= $1 limit 1',
        [deps.clock()]
      )
      if (rows.length === 0) return
      await sleep(10)
    }
    throw new Error('mails are left')
  }

  return {
    deps,
    sentMails,
    mailTo,
    allMailsSent,
    app,
    gate,
    tenants,
    server,
    folder,
    database,
    owner: database.owner,
    companies,
    logged,
    addCompany,
    call: callAt,
    fetch: fetchApp,
    signUp,
    signIn,
    request,
    listen,
    reserve,
    patch,
    tus,
    put,
    content,
    deposit,
    until,
    wait(seconds: number) {
      offset += seconds * 1000
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      server.closeAllConnections()
      if (port !== undefined) await new Promise(resolve => server.close(resolve))
      await jobs[Symbol.asyncDispose]()
      tenants[Symbol.dispose]()
      await database[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

export interface RawRequest {
  method?: string
  path?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

export interface RawResponse {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
}
