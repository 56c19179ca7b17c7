import { Resolver } from 'node:dns'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { HostName } from '../contract/domains.ts'
import { maxFileBytes } from '../contract/kit/limits.ts'
import { canonicalEmail } from '../core/input/email.ts'
import type { BoundSettings, TrafficLimitSettings } from './domain/deps.ts'

const portError = 'it must be a whole number from 1 to 65535'
const port = z.coerce
  .number(portError)
  .check(z.int(portError), z.gte(1, portError), z.lte(65_535, portError))
const flag = z.pipe(
  z.enum(['true', 'false'], 'it must be true or false'),
  z.transform(text => text === 'true')
)

const databaseUrl = z
  .string()
  .check(z.regex(/^postgres(ql)?:\/\//, 'it must begin with postgres:// or postgresql://'))

const roles = ['all', 'api', 'web'] as const
const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

function count(least: number) {
  const error = `it must be a whole number of at least ${least}`
  return z.coerce.number(error).check(z.int(error), z.gte(least, error))
}

// `.env.example` explains them
const settings = {
  PORT: z._default(port, 4321),
  HOST: z._default(z.string().check(z.minLength(1)), '127.0.0.1'),
  MANAGEMENT_PORT: z._default(port, 4322),
  MANAGEMENT_HOST: z._default(z.string().check(z.minLength(1)), '127.0.0.1'),
  ROLE: z._default(z.enum(roles, `it must be one of ${roles.join(', ')}`), 'all'),
  API_INTERNAL_URL: z.optional(
    z.string().check(z.refine(isOrigin, 'it must be an address such as http://10.0.0.5:4321'))
  ),
  SITE_SECRET: z.optional(z.string().check(z.minLength(32, 'it must have at least 32 characters'))),
  PUBLIC_URL: z.optional(
    z.string().check(z.refine(isOrigin, 'it must be an address such as https://docs.example.com'))
  ),
  DATABASE_URL: z.optional(databaseUrl),
  DATABASE_OWNER_URL: z.optional(databaseUrl),
  DATABASE_NOTIFY: z._default(flag, true),
  POOL_SIZE: z._default(count(8), 16),
  SMTP_URL: z.optional(
    z.string().check(z.regex(/^smtps?:\/\/[^/]/, 'it must begin with smtp:// or smtps://'))
  ),
  MAIL_FROM: z.optional(
    z
      .string()
      .check(
        z.refine(text => canonicalEmail(text) !== undefined, 'it must be one plain email address')
      )
  ),
  DATA_DIR: z._default(z.string().check(z.minLength(1)), './data'),
  VIDIMUS_KEK: z.optional(
    z.string().check(z.regex(/^[0-9a-f]{64}$/, 'it must have 64 digits from 0 to 9 and a to f'))
  ),
  DNS_CHECK: z._default(flag, true),
  DNS_SERVERS: z._default(
    z
      .string()
      .check(
        z.refine(
          text => areDnsServers(listOf(text)),
          'it must list addresses such as 9.9.9.9 or [2620:fe::fe]:53'
        )
      ),
    ''
  ),
  PUBLIC_ADDRESSES: z._default(
    z
      .string()
      .check(
        z.refine(
          text => listOf(text).every(each => isIP(each) !== 0 || isHostName(each)),
          'it must list IP addresses or a host name, such as 192.0.2.7,2001:db8::7 or edge.example.com'
        )
      ),
    ''
  ),
  REGISTERS_ON_LOOPBACK: z._default(flag, false),
  DEV: z._default(flag, false),
  DEMO: z._default(flag, true),
  LOG_LEVEL: z._default(z.enum(levels, `it must be one of ${levels.join(', ')}`), 'info'),
  MAX_UPLOAD_BYTES: z._default(count(1), maxFileBytes),
  LOG_BATCH_MS: z._default(
    count(200).check(z.lte(3_600_000, 'it must be at most 3600000, an hour')),
    200
  ),
  PLATFORM_ORIGIN: z.optional(
    z.string().check(
      // `<host>/log` and what follows it are names of companies' logs and of their keys
      z.regex(
        /^(?!.*\/log(?:\/|$))[!-*,-~]{1,255}$/,
        'it must be a name such as vidimus.example/platform-log'
      )
    )
  ),
  TRUSTED_PROXIES: z._default(z.string(), ''),
  LIMIT_SIGN_IN_PER_ADDRESS_MINUTE: z._default(count(1), 300),
  LIMIT_SIGN_UP_PER_ADDRESS_HOUR: z._default(count(1), 20),
  LIMIT_MAILS_PER_ADDRESS_HOUR: z._default(count(1), 20),
  LIMIT_MAILS_PER_COMPANY_DAY: z._default(count(1), 5000),
  LIMIT_MAIL_TOKENS_PER_ADDRESS: z._default(count(1), 30),
  LIMIT_VERIFY_PER_ADDRESS_MINUTE: z._default(count(1), 60),
  LIMIT_VERIFY_PER_ADDRESS_DAY: z._default(count(1), 600),
  LIMIT_VERIFY_PER_COMPANY_DAY: z._default(count(1), 20_000),
  LIMIT_VERIFY_PER_USER_MINUTE: z._default(count(1), 600),
  LIMIT_PUBLIC_PER_ADDRESS_MINUTE: z._default(count(1), 1200),
  LIMIT_REPORTS_PER_ADDRESS_MINUTE: z._default(count(1), 10),
  LIMIT_STREAMS_PER_USER: z._default(count(1), 5),
  LIMIT_STREAMS_PER_COMPANY: z._default(count(1), 500),
  LIMIT_STREAMS_PER_PROCESS: z._default(count(1), 5000),
  LIMIT_CONNECTIONS_PER_PROCESS: z._default(count(1), 8000),
  LIMIT_CONNECTIONS_PER_ADDRESS: z._default(count(1), 500),
  LIMIT_DOMAINS_PER_COMPANY: z._default(count(1), 100),
  LIMIT_GROUPS_PER_COMPANY: z._default(count(1), 1000),
  LIMIT_CATEGORIES_PER_COMPANY: z._default(count(1), 500),
  LIMIT_DATA_SOURCES_PER_COMPANY: z._default(count(1), 50),
  LIMIT_PEOPLE_PER_COMPANY: z._default(count(1), 1_000_000),
  LIMIT_IMPORT_BYTES_PER_COMPANY: z._default(count(1), 500_000_000),
  LIMIT_REGISTER_ROWS_PER_COMPANY: z._default(count(1), 10_000_000)
} as const

// may be given by a file instead, whose path `SITE_SECRET_FILE` names, so that no secret is in the environment
const secrets = [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'SMTP_URL',
  'SITE_SECRET',
  'VIDIMUS_KEK'
] as const

/** A test compares them with `.env.example`. */
export const settingNames = [...Object.keys(settings), ...secrets.map(fileSettingOf)]

const Settings = z.object(settings)

export interface Config {
  /** Calls that use the database at the same time. */
  poolSize: number
  /** Undefined means the embedded server. */
  database: { url: string; ownerUrl: string | undefined } | undefined
  /**
   * Whether the processes of one database tell each other about changes. Otherwise they find them
   * later.
   */
  notify: boolean
  port: number
  host: string
  managementPort: number
  managementHost: string
  /** Whether the process serves pages (`web`), the API (`api`), or both. */
  role: (typeof roles)[number]
  /** Whom a `web` process asks whose a host is. */
  remoteApi: { apiUrl: string; secret: string } | undefined
  /** An `api` process answers sites that know it. */
  siteSecret: string | undefined
  /** Of the address under which people reach the service, such as a proxy's. */
  scheme: 'http' | 'https'
  /** Of the same address. Undefined for the default port of the scheme. */
  publicPort: number | undefined
  /** If not, the service is meant for a developer's machine only. */
  hasPublicUrl: boolean
  /** For tests: files of registers are also fetched from this machine, by http and on any port. */
  registersOnLoopback: boolean
  dev: boolean
  /** Undefined means that mails are written to a folder. */
  smtp: { url: string; from: string } | undefined
  /**
   * To query for the proofs of domains. Empty means the DNS servers of the operating system;
   * undefined, that domains need no proof.
   */
  dnsServers: string[] | undefined
  /** The values of the DNS records that a domain needs, as administrators read them. */
  publicAddresses: string[]
  /** The folder of all data, as an absolute path. */
  dataDir: string
  /** Undefined means a file below `dataDir`. */
  rootSecret: Buffer | undefined
  demo: boolean
  logLevel: string
  maxUploadBytes: number
  logBatchMs: number
  platformOrigin: string | undefined
  trustedProxies: string[]
  limits: TrafficLimitSettings & { connectionsPerProcess: number; connectionsPerAddress: number }
  bounds: BoundSettings
}

/** Throws an error with one sentence for each invalid setting. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const given = withSecretsOfFiles(
    Object.fromEntries(
      Object.entries(environment).flatMap(([name, value]) => (value ? [[name, value]] : []))
    )
  )
  const read = Settings.safeParse(given)
  if (!read.success) {
    const wrong = read.error.issues.map(
      ({ path, message }) => `${shown(String(path[0]), given)} is not valid: ${message}.`
    )
    throw new Error([...new Set(wrong)].join('\n'))
  }
  const value = read.data
  if (value.DATABASE_OWNER_URL !== undefined && value.DATABASE_URL === undefined) {
    throw new Error('DATABASE_OWNER_URL needs DATABASE_URL.')
  }
  if ((value.SMTP_URL === undefined) !== (value.MAIL_FROM === undefined)) {
    throw new Error('Set both SMTP_URL and MAIL_FROM, or neither.')
  }
  if (value.PORT === value.MANAGEMENT_PORT) {
    throw new Error(`PORT and MANAGEMENT_PORT are both ${value.PORT}: choose two different ports.`)
  }
  if (value.REGISTERS_ON_LOOPBACK && value.PUBLIC_URL !== undefined && !value.DEV) {
    throw new Error(
      'REGISTERS_ON_LOOPBACK lets administrators of companies reach this machine from inside, so it is for tests: do not set it with PUBLIC_URL.'
    )
  }
  if (value.ROLE === 'web' && (!value.API_INTERNAL_URL || !value.SITE_SECRET)) {
    throw new Error('ROLE=web needs API_INTERNAL_URL and SITE_SECRET.')
  }
  const seen = publicAddress(value.PUBLIC_URL, value.PORT)
  return {
    database:
      value.DATABASE_URL === undefined
        ? undefined
        : { url: value.DATABASE_URL, ownerUrl: value.DATABASE_OWNER_URL },
    poolSize: value.POOL_SIZE,
    notify: value.DATABASE_NOTIFY,
    port: value.PORT,
    host: value.HOST,
    managementPort: value.MANAGEMENT_PORT,
    managementHost: value.MANAGEMENT_HOST,
    role: value.ROLE,
    remoteApi:
      value.API_INTERNAL_URL === undefined || value.SITE_SECRET === undefined
        ? undefined
        : { apiUrl: value.API_INTERNAL_URL, secret: value.SITE_SECRET },
    siteSecret: value.SITE_SECRET,
    ...seen,
    hasPublicUrl: value.PUBLIC_URL !== undefined,
    registersOnLoopback: value.REGISTERS_ON_LOOPBACK,
    dev: value.DEV,
    smtp:
      value.SMTP_URL === undefined || value.MAIL_FROM === undefined
        ? undefined
        : { url: value.SMTP_URL, from: value.MAIL_FROM },
    dnsServers: value.DNS_CHECK ? listOf(value.DNS_SERVERS) : undefined,
    publicAddresses: listOf(value.PUBLIC_ADDRESSES),
    dataDir: resolve(value.DATA_DIR),
    rootSecret: value.VIDIMUS_KEK === undefined ? undefined : Buffer.from(value.VIDIMUS_KEK, 'hex'),
    demo: value.DEMO,
    logLevel: value.LOG_LEVEL,
    maxUploadBytes: value.MAX_UPLOAD_BYTES,
    logBatchMs: value.LOG_BATCH_MS,
    platformOrigin: value.PLATFORM_ORIGIN,
    trustedProxies: listOf(value.TRUSTED_PROXIES),
    limits: {
      signInPerAddressMinute: value.LIMIT_SIGN_IN_PER_ADDRESS_MINUTE,
      signUpPerAddressHour: value.LIMIT_SIGN_UP_PER_ADDRESS_HOUR,
      mailsPerAddressHour: value.LIMIT_MAILS_PER_ADDRESS_HOUR,
      mailsPerCompanyDay: value.LIMIT_MAILS_PER_COMPANY_DAY,
      mailTokensPerAddress: value.LIMIT_MAIL_TOKENS_PER_ADDRESS,
      verifyPerAddressMinute: value.LIMIT_VERIFY_PER_ADDRESS_MINUTE,
      verifyPerAddressDay: value.LIMIT_VERIFY_PER_ADDRESS_DAY,
      verifyPerCompanyDay: value.LIMIT_VERIFY_PER_COMPANY_DAY,
      verifyPerUserMinute: value.LIMIT_VERIFY_PER_USER_MINUTE,
      publicPerAddressMinute: value.LIMIT_PUBLIC_PER_ADDRESS_MINUTE,
      reportsPerAddressMinute: value.LIMIT_REPORTS_PER_ADDRESS_MINUTE,
      streamsPerUser: value.LIMIT_STREAMS_PER_USER,
      streamsPerCompany: value.LIMIT_STREAMS_PER_COMPANY,
      streamsPerProcess: value.LIMIT_STREAMS_PER_PROCESS,
      connectionsPerProcess: value.LIMIT_CONNECTIONS_PER_PROCESS,
      connectionsPerAddress: value.LIMIT_CONNECTIONS_PER_ADDRESS
    },
    bounds: {
      domains: value.LIMIT_DOMAINS_PER_COMPANY,
      groups: value.LIMIT_GROUPS_PER_COMPANY,
      categories: value.LIMIT_CATEGORIES_PER_COMPANY,
      dataSources: value.LIMIT_DATA_SOURCES_PER_COMPANY,
      people: value.LIMIT_PEOPLE_PER_COMPANY,
      importBytes: value.LIMIT_IMPORT_BYTES_PER_COMPANY,
      registerRows: value.LIMIT_REGISTER_ROWS_PER_COMPANY
    }
  }
}

function withSecretsOfFiles(given: Record<string, string>): Record<string, string> {
  const read = secrets.flatMap(name => {
    const setting = fileSettingOf(name)
    const path = given[setting]
    if (path === undefined) return []
    if (given[name] !== undefined) throw new Error(`Set ${name} or ${setting}, not both.`)
    return [[name, readSecret(setting, path)]]
  })
  return { ...given, ...Object.fromEntries(read) }
}

function readSecret(setting: string, path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${setting}=${path} cannot be read: ${reason}.`, { cause })
  }
  // editors end a file with a line break
  const secret = text.replace(/\r?\n$/, '')
  if (secret === '') throw new Error(`${setting}=${path} is empty.`)
  return secret
}

function fileSettingOf(name: string): string {
  return `${name}_FILE`
}

// without the value of a secret, or of a server's URL, which can contain a password
function shown(key: string, given: Record<string, string | undefined>): string {
  return secrets.some(name => name === key) ? key : `${key}=${given[key]}`
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map(each => each.trim())
    .filter(Boolean)
}

function isHostName(text: string): boolean {
  return HostName.safeParse(text).success && text.includes('.')
}

function areDnsServers(servers: string[]): boolean {
  try {
    new Resolver().setServers(servers)
    return true
  } catch {
    return false
  }
}

function isOrigin(text: string): boolean {
  return /^https?:\/\/[^/]+$/.test(text) && URL.canParse(text)
}

function publicAddress(
  url: string | undefined,
  port: number
): { scheme: 'http' | 'https'; publicPort: number | undefined } {
  if (url === undefined) return { scheme: 'http', publicPort: port === 80 ? undefined : port }
  const { protocol, port: written } = new URL(url)
  return {
    scheme: protocol === 'https:' ? 'https' : 'http',
    publicPort: written === '' ? undefined : Number(written)
  }
}
