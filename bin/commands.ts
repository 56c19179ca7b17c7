import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CompanyName } from '../src/contract/companies.ts'
import { HostName } from '../src/contract/domains.ts'
import { normalizeTypedHost } from '../src/core/input/domain-name.ts'
import { rotateTokenKey } from '../src/server/adapters/keys.ts'
import { createLog } from '../src/server/adapters/log.ts'
import { readConfig } from '../src/server/config.ts'
import { listUnconfirmedSignUpsWithNewLinks } from '../src/server/domain/accounts/signups.ts'
import {
  type AuditCheckReport,
  type AuditHead,
  checkAuditLog,
  findUnloggedPermissions,
  type UnloggedPermissions
} from '../src/server/domain/audit/audit-check.ts'
import { allowCertificateAlways } from '../src/server/domain/companies/certificate-names.ts'
import { listCompanyIds, removeDemoCompany } from '../src/server/domain/companies/companies.ts'
import {
  listHostsWithCompanies,
  watchServedHosts,
  webOriginOf
} from '../src/server/domain/companies/served-hosts.ts'
import { createEmptyDemo, demoHost, fillDemo, findDemo } from '../src/server/domain/demo/demo.ts'
import { demoAccount } from '../src/server/domain/demo-account.ts'
import {
  type HeldUpload,
  listHeldUploads,
  scheduleHeldUploadRetry
} from '../src/server/domain/deposits/held-uploads.ts'
import type { CompanyId, Deps } from '../src/server/domain/deps.ts'
import { moveLogs } from '../src/server/domain/evidence/log-folder.ts'
import { LogRefusal } from '../src/server/domain/evidence/log-recovery.ts'
import { resyncLog, rewriteRetiredLog } from '../src/server/domain/evidence/log-resync.ts'
import { retireLog } from '../src/server/domain/evidence/log-retirement.ts'
import { freezeReasons, type LogSummary, listLogsOf } from '../src/server/domain/evidence/logs.ts'
import { findBetterHost } from '../src/server/domain/evidence/trial-logs.ts'
import { createFirstCompanyIfNone } from '../src/server/domain/installation/installation.ts'
import { createSetupCode } from '../src/server/domain/installation/setup.ts'
import { openDeps } from '../src/server/open-deps.ts'
import { UnusableInput, verifyFile } from './verify-command.ts'

interface Command {
  summary: string
  /** `value` is the placeholder for the option's value in the help. */
  options?: Record<string, { value: string; means: string }>
  /** Such as the id in `deposit retry <id>`. */
  arguments?: { name: string; means: string }[]
  /** `facts` are printed with `--json`. */
  run(options: Record<string, string | undefined>): Promise<Answer>
}

interface Answer {
  /** 0 if absent. */
  status?: number
  text: string
  facts: Record<string, unknown>
}

// when a command cannot do its work, or `audit check` finds a changed log
class Refusal extends Error {
  readonly facts: Record<string, unknown>

  constructor(message: string, facts: Record<string, unknown> = {}) {
    super(message)
    this.facts = facts
  }
}

class Misuse extends Error {}

const commands: Record<string, Command> = {
  init: {
    summary: 'create an installation on your own host, without the demonstration',
    options: {
      domain: { value: '<host>', means: 'page host; the API answers on api.<host>' },
      name: { value: '<name>', means: 'company name' }
    },
    run: init
  },
  hosts: {
    summary: 'list the hosts on which pages are served, each with its company',
    run: () => inDeps(listServedHosts)
  },
  'certificates allow': {
    summary: 'let the proxy request certificates for a host below a wildcard, whatever its budget',
    arguments: [{ name: 'host', means: 'the host, such as docs.example.com; its API is included' }],
    run: options => inDeps(deps => allowCertificate(deps, options['host']))
  },
  'setup-code': {
    summary: 'print a link to create the first operator',
    run: () => inDeps(setupCode)
  },
  waiting: {
    summary: 'list people who signed up and wait to be let in, each with a new link',
    run: () => inDeps(waiting)
  },
  'keys rotate token': {
    summary: 'create a new key for signing sessions, used from ten minutes on',
    run: () => inDeps(rotate)
  },
  'deposit held': {
    summary: 'list deposits that arrived but could not be recorded',
    run: () => inDeps(listHeldDeposits)
  },
  'deposit retry': {
    summary: 'retry held deposits once the cause is fixed',
    arguments: [{ name: 'id', means: 'retry only this request; without it, all held deposits' }],
    run: options => inDeps(deps => retryHeldDeposits(deps, options['id']))
  },
  'audit check': {
    summary: 'check that the audit logs of all companies are as they were written',
    options: {
      expect: {
        value: '<end>,…',
        means: 'ends of logs that an earlier check printed; the logs must still contain them'
      }
    },
    run: options => inDeps(deps => checkAudit(deps, options['expect']))
  },
  'log list': {
    summary: 'list the public logs of all companies, and whether they are signed',
    run: () => inDeps(listLogs)
  },
  'log resync': {
    summary: 'after a backup was restored: read what was lost from the published files of a log',
    arguments: [{ name: 'origin', means: 'name of the log, as log list prints it' }],
    run: options => inDepsAsOwner(deps => resync(deps, options['origin']))
  },
  'log moved': {
    summary: 'after the newest state was moved to this data folder: sign the logs here from now on',
    run: () => inDeps(signHere)
  },
  'log retire': {
    summary: 'end a log that cannot be signed any more or was a trial, and begin its successor',
    arguments: [{ name: 'origin', means: 'name of the log, as log list prints it' }],
    run: options => inDepsAsOwner(deps => retire(deps, options['origin']))
  },
  verify: {
    summary: 'check a file by its receipt, without the service or its database',
    arguments: [
      { name: 'file', means: 'the file' },
      { name: 'receipt', means: 'its receipt, such as report.pdf.vidimus.json' }
    ],
    options: {
      key: { value: '<vkey>', means: 'key of the log, as its company publishes it' },
      policy: { value: '<file>', means: 'file with keys that you trust (C2SP tlog-policy)' }
    },
    run: verifyFile
  },
  'seed-demo': { summary: 'create the demonstration company', run: () => inDeps(seedDemo) },
  'remove-demo': {
    summary: 'delete the demonstration company with all its data',
    run: () => inDeps(removeDemo)
  }
}

/**
 * 0 for done, 1 for refused or failed, 2 for an invalid command line. `verify` has a status for each
 * verdict, and 64 for an invalid command line.
 */
export interface CommandResult {
  status: number
  out: string
  err: string
}

/** Such as `['deposit', 'held', '--json']`. */
export async function runCommand(words: string[]): Promise<CommandResult> {
  const asJson = words.includes('--json')
  try {
    const answer = await answerTo(words)
    const out = `${asJson ? JSON.stringify(answer.facts) : answer.text}\n`
    return { status: answer.status ?? 0, out, err: '' }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const facts = error instanceof Refusal ? error.facts : {}
    const err = `${asJson ? JSON.stringify({ error: text, ...facts }) : text}\n`
    return { status: statusOf(error, words), out: '', err }
  }
}

function statusOf(error: unknown, [command]: string[]): number {
  if (error instanceof UnusableInput) return 64
  if (error instanceof Misuse) return command === 'verify' ? 64 : 2
  return 1
}

async function answerTo(words: string[]): Promise<Answer> {
  const name = Object.keys(commands).find(each =>
    each.split(' ').every((word, at) => words[at] === word)
  )
  const command = name === undefined ? undefined : commands[name]
  if (name === undefined || !command) {
    const [first] = words
    if (first === undefined || first === '--help' || first === '--json') return overview()
    throw new Misuse(`There is no command ${first}. See npm run vidimus -- --help.`)
  }
  const { help, options } = parse(words.slice(name.split(' ').length), command)
  return help ? helpOf(name, command) : command.run(options)
}

function parse(
  args: string[],
  { options = {}, arguments: named = [] }: Command
): { help: boolean; options: Record<string, string | undefined> } {
  const own = Object.keys(options).map(each => [each, { type: 'string' as const }] as const)
  const flags = { help: { type: 'boolean' as const }, json: { type: 'boolean' as const } }
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...flags, ...Object.fromEntries(own) },
      allowPositionals: named.length > 0
    })
    const extra = positionals[named.length]
    if (extra !== undefined) throw new Error(`Unexpected argument '${extra}'.`)
    const given = Object.entries(values).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : []
    )
    const placed = named.flatMap(({ name }, at) => {
      const value = positionals[at]
      return value === undefined ? [] : [[name, value]]
    })
    return { help: 'help' in values, options: Object.fromEntries([...given, ...placed]) }
  } catch (cause) {
    throw new Misuse(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function overview(): Answer {
  const width = Math.max(...Object.keys(commands).map(name => name.length)) + 2
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(width)}${summary}`
  )
  const list = Object.entries(commands).map(([name, { summary }]) => ({ name, summary }))
  return {
    text: `npm run vidimus -- <command> [--json] [--help]\n\n${lines.join('\n')}`,
    facts: { commands: list }
  }
}

function helpOf(name: string, command: Command): Answer {
  const { summary, options = {}, arguments: named = [] } = command
  const all = {
    ...options,
    json: { value: '', means: 'print one JSON value' },
    help: { value: '', means: 'print this help' }
  }
  const lines = Object.entries(all).map(
    ([option, { value, means }]) => `  ${`--${option} ${value}`.padEnd(20)}${means}`
  )
  lines.unshift(...named.map(each => `  ${`[${each.name}]`.padEnd(20)}${each.means}`))
  return {
    text: `npm run vidimus -- ${name}: ${summary}\n\n${lines.join('\n')}`,
    facts: { command: name, summary, options: all, arguments: named }
  }
}

// the service may run at the same time
async function inDeps(run: (deps: Deps) => Promise<Answer>): Promise<Answer> {
  const config = readConfig()
  // silent, because only the command's own output may be printed
  await using opened = await openDeps(config, createLog('silent'))
  // awaited here, because everything is closed when this function returns
  return await run(opened.deps)
}

async function inDepsAsOwner(run: (deps: Deps) => Promise<Answer>): Promise<Answer> {
  await using opened = await openDeps(readConfig(), createLog('silent'))
  await using db = await opened.openOwnerDatabase()
  return await run({ ...opened.deps, db })
}

async function init({ domain, name }: Record<string, string | undefined>): Promise<Answer> {
  if (domain === undefined || name === undefined) {
    throw new Misuse('init needs --domain and --name.')
  }
  const host = normalizeTypedHost(domain)
  const isAddress = /^[\d.]+$/.test(host)
  if (!HostName.safeParse(host).success || host.startsWith('api.') || isAddress) {
    throw new Misuse(
      `${domain} is not a host name that can serve pages: it must be a name such as docs.example.com, and may not begin with api.`
    )
  }
  const company = CompanyName.safeParse(name)
  if (!company.success) throw new Misuse('The name must have 1 to 80 characters on one line.')
  return inDeps(async deps => {
    if (!(await createFirstCompanyIfNone(deps, { host, name: company.data, isPublic: false }))) {
      throw new Refusal('This database already has an installation: init needs an empty one.')
    }
    const { facts, text } = await setupCode(deps)
    return {
      facts: { domain: host, name: company.data, ...facts },
      text: `${host} is ready.\n${text}`
    }
  })
}

async function listServedHosts(deps: Deps): Promise<Answer> {
  const hosts = await listHostsWithCompanies(deps)
  const width = Math.max(0, ...hosts.map(({ host }) => host.length)) + 2
  return {
    facts: { hosts },
    text:
      hosts.length === 0
        ? 'No host is served.'
        : hosts.map(({ host, company }) => `${host.padEnd(width)}${company}`).join('\n')
  }
}

async function allowCertificate(deps: Deps, given: string | undefined): Promise<Answer> {
  if (given === undefined) throw new Misuse('certificates allow needs a host.')
  const host = normalizeTypedHost(given)
  using served = await watchServedHosts(deps)
  const domain = served.domainOf(host)
  if (domain === undefined) {
    throw new Refusal(`${host} is not served: npm run vidimus -- hosts lists what is.`)
  }
  const isBelowWildcard = domain.startsWith('*')
  if (isBelowWildcard) await allowCertificateAlways(deps, { name: host, wildcard: domain })
  return {
    facts: { host, domain },
    text: isBelowWildcard
      ? `The proxy may request certificates for ${host} and its API.`
      : `The proxy may request certificates for ${host} already, because it is a domain of its own.`
  }
}

async function setupCode(deps: Deps): Promise<Answer> {
  const made = await createSetupCode(deps)
  if (made)
    return {
      facts: { ...made },
      text: `Open this link within 24 hours to become the operator:\n${made.link}`
    }
  const companies = await listCompanyIds(deps)
  throw new Refusal(
    companies.length === 0
      ? 'There is no installation yet: run npm start, or npm run vidimus -- init.'
      : 'The installation already has an operator, so setup is done.'
  )
}

async function waiting(deps: Deps): Promise<Answer> {
  const people = await listUnconfirmedSignUpsWithNewLinks(deps)
  const lines = people.map(
    ({ email, username, company, since, link }) =>
      `${email} (${username}, ${company}), since ${since.toISOString()}\n  ${link}`
  )
  const text =
    people.length === 0
      ? 'Nobody is waiting.'
      : `${lines.join('\n')}\nSend each person their link. It works once, for 24 hours: in the browser they signed up in, or with a new password.`
  return { facts: { waiting: people }, text }
}

async function rotate(deps: Deps): Promise<Answer> {
  const directory = join(readConfig().dataDir, 'keys')
  const { kid, validFrom } = await rotateTokenKey({ directory, clock: deps.clock })
  return {
    facts: { kid, valid_from: validFrom.toISOString() },
    text: `Token key ${kid} signs sessions from ${validFrom.toISOString()} on. The keys it replaces are removed a day later.`
  }
}

async function listHeldDeposits(deps: Deps): Promise<Answer> {
  const held = await allHeld(deps)
  const lines = held.map(
    ({ request_id, company_id, held_at, size, failure }) =>
      `${request_id}  company ${company_id}  ${size} bytes  since ${held_at.toISOString()}\n  ${failure}`
  )
  return {
    facts: { held },
    text: lines.length === 0 ? 'No deposit is held.' : lines.join('\n')
  }
}

async function retryHeldDeposits(deps: Deps, id: string | undefined): Promise<Answer> {
  const held = await allHeld(deps)
  const chosen = id === undefined ? held : held.filter(each => each.request_id === id)
  if (chosen.length === 0) {
    throw new Refusal(
      id === undefined ? 'No deposit is held.' : `No held deposit has the id ${id}.`
    )
  }
  const retried: string[] = []
  for (const each of chosen)
    if (await scheduleHeldUploadRetry(deps, each)) retried.push(each.request_id)
  return {
    facts: { retried },
    text: `The service retries ${retried.length === 1 ? 'the deposit' : `${retried.length} deposits`} within seconds.`
  }
}

async function allHeld(deps: Deps): Promise<HeldUpload[]> {
  const held: HeldUpload[] = []
  for (const company of await listCompanyIds(deps))
    held.push(...(await listHeldUploads(deps, company)))
  return held
}

async function checkAudit(deps: Deps, expect: string | undefined): Promise<Answer> {
  const expected = parseExpectedHeads(expect)
  const companies = await listCompanyIds(deps)
  const unknown = [...expected.keys()].filter(id => !companies.some(company => company === id))
  const faults = unknown.map(id => `Company ${id}: it does not exist, although it is expected.`)
  const logs: ({ company: CompanyId; unlogged: UnloggedPermissions[] } & AuditCheckReport)[] = []
  for (const company of companies) {
    const report = await checkAuditLog(deps, company, expected.get(company))
    const unlogged = await findUnloggedPermissions(deps, company)
    logs.push({ company, ...report, unlogged })
    if (report.broken) {
      const { seq, reason } = report.broken
      faults.push(`Company ${company}: entry ${seq} is broken: ${reason}.`)
    }
    for (const { person, logged, now } of unlogged) {
      const [had, has] = [logged, now].map(each => each.join(', ') || 'none')
      faults.push(
        `Company ${company}: person ${person} has the permissions ${has}, but the log says ${had}.`
      )
    }
  }
  if (faults.length > 0) throw new Refusal(faults.join('\n'), { logs })
  const lines = logs.map(({ company, entries, erased, head }) => {
    if (!head) return `Company ${company}: warning: the log is empty.`
    const gone = erased === 0 ? '' : `, ${erased} of them with erased fields`
    return `Company ${company}: ${entries} entries${gone}. End: ${company}:${head.seq}:${head.hash}`
  })
  return { facts: { logs }, text: `All audit logs are as they were written.\n${lines.join('\n')}` }
}

function parseExpectedHeads(text = ''): Map<string, AuditHead> {
  const heads = text.split(',').filter(each => each.trim() !== '')
  return new Map(
    heads.map(each => {
      const [, company = '', seq, hash = ''] =
        /^([0-9a-f-]{36}):([1-9]\d*):([0-9a-f]{64})$/i.exec(each.trim()) ?? []
      if (seq === undefined) throw new Misuse(`--expect is not <company>:<number>:<hash>: ${each}`)
      return [company.toLowerCase(), { seq: Number(seq), hash: hash.toLowerCase() }]
    })
  )
}

async function listLogs(deps: Deps): Promise<Answer> {
  const logs: (LogSummary & { better_host: string | null })[] = []
  for (const log of await allLogs(deps))
    logs.push({ ...log, better_host: await findBetterHost(deps, log) })
  const lines = logs.map(({ company, origin, state, published, leaves, fault, better_host }) =>
    [
      origin,
      `  company ${company}, ${state}, ${published} of ${leaves} leaves signed`,
      ...(state === 'running' || state === 'retired' ? [] : [`  frozen: ${freezeReasons[state]}`]),
      ...(fault === null ? [] : [`  fault: ${fault}`]),
      ...(better_host === null
        ? []
        : [
            `  trial: receipts name localhost, not ${better_host}. End it with npm run vidimus -- log retire ${origin}`
          ])
    ].join('\n')
  )
  return { facts: { logs }, text: logs.length === 0 ? 'There is no log.' : lines.join('\n') }
}

async function resync(deps: Deps, origin: string | undefined): Promise<Answer> {
  const { company, state, origin: name } = await logOf(deps, origin)
  const result = await refusing(() =>
    state === 'retired' ? rewriteRetiredLog(deps, company, name) : resyncLog(deps, company)
  )
  const text =
    result.done === 'files written'
      ? `The database has all ${result.leaves} leaves. The published files were written anew.`
      : `${result.restored} leaves were read from the published files. ${result.moved} leaves from after the backup follow them. The service signs the log again within a minute.`
  return { facts: { log: origin, ...result }, text }
}

async function signHere(deps: Deps): Promise<Answer> {
  if (!(await refusing(() => moveLogs(deps))))
    throw new Refusal(
      'The folder log is the one in which logs were signed last, as far as its file system tells. Nothing was changed.'
    )
  return {
    facts: { moved: true },
    text: 'From now on the logs are signed in this folder. The service begins within a minute.'
  }
}

async function retire(deps: Deps, origin: string | undefined): Promise<Answer> {
  const { company, state } = await logOf(deps, origin)
  if (state === 'retired') throw new Refusal(`${origin} is retired already.`)
  const result = await refusing(() => retireLog(deps, company))
  const { successor, rebuilt, lost, is_copied } = result
  const loss = lost === 0 ? '' : ` ${lost} leaves were left out, because their contents are lost.`
  const wait = is_copied
    ? ' The folder log is not the one in which logs were signed last: when all logs are retired that need it, run npm run vidimus -- log moved.'
    : ''
  return {
    facts: { ...result },
    text: `${result.origin} is retired: it signs nothing more, and its receipts stay valid. ${successor} follows it, with ${rebuilt} leaves that were not signed yet.${loss}${wait}`
  }
}

async function logOf(deps: Deps, origin: string | undefined): Promise<LogSummary> {
  if (origin === undefined) throw new Misuse('Name a log: npm run vidimus -- log list lists them.')
  const found = (await allLogs(deps)).find(log => log.origin === origin)
  if (!found)
    throw new Refusal(`There is no log ${origin}: npm run vidimus -- log list lists them.`)
  return found
}

async function allLogs(deps: Deps): Promise<LogSummary[]> {
  const logs: LogSummary[] = []
  for (const company of await listCompanyIds(deps)) logs.push(...(await listLogsOf(deps, company)))
  return logs
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof LogRefusal ? new Refusal(error.message) : error
  }
}

async function seedDemo(deps: Deps): Promise<Answer> {
  if ((await listCompanyIds(deps)).length === 0) {
    throw new Refusal('There is no installation yet: run npm start, or npm run vidimus -- init.')
  }
  const found = await findDemo(deps)
  if (found?.state === 'ready') throw new Refusal('The demonstration already exists.')
  if (!found) await createEmptyDemo(deps)
  if (!(await fillDemo(deps, () => false))) {
    throw new Refusal('Another process is creating the demonstration.')
  }
  const address = webOriginOf(deps, demoHost)
  const { email, password } = demoAccount
  return {
    facts: { address, account: demoAccount },
    text: `The demonstration is at ${address}\nOn a developer's machine, sign in as ${email}, password: ${password}`
  }
}

async function removeDemo(deps: Deps): Promise<Answer> {
  const demo = await findDemo(deps)
  if (!demo || !(await removeDemoCompany(deps, demo.company_id))) {
    throw new Refusal('There is no demonstration.')
  }
  return { facts: { removed: demo.company_id }, text: 'The demonstration has been removed.' }
}
