import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { maxFileBytes } from '../contract/deposits.ts'

const count = (least: number) => z.coerce.number().check(z.int(), z.gte(least))
const port = z.coerce.number().check(z.int(), z.gte(1), z.lte(65_535))
const flag = z.pipe(
  z.enum(['true', 'false']),
  z.transform(text => text === 'true')
)

/** Every setting with its rule and default; `.env.example` explains them to people. */
const settings = {
  PORT: z._default(port, 4321),
  HOST: z._default(z.string().check(z.minLength(1)), '127.0.0.1'),
  MANAGEMENT_PORT: z._default(port, 4322),
  PUBLIC_URL: z.optional(z.string().check(z.refine(isOrigin))),
  DATA_DIR: z._default(z.string().check(z.minLength(1)), './data'),
  DEMO: z._default(flag, true),
  LOG_LEVEL: z._default(
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'info'
  ),
  MAX_UPLOAD_BYTES: z._default(count(1), maxFileBytes),
  TRUSTED_PROXIES: z._default(z.string(), ''),
  LIMIT_SIGN_IN_PER_ADDRESS_MINUTE: z._default(count(1), 300),
  LIMIT_VERIFY_PER_ADDRESS_MINUTE: z._default(count(1), 60),
  LIMIT_VERIFY_PER_ADDRESS_DAY: z._default(count(1), 600),
  LIMIT_VERIFY_PER_COMPANY_DAY: z._default(count(1), 20_000),
  LIMIT_VERIFY_PER_USER_MINUTE: z._default(count(1), 600)
} as const

/** Names of all settings, for the test that compares them with `.env.example`. */
export const settingNames = Object.keys(settings)

const Settings = z.object(settings)

export interface Config {
  port: number
  host: string
  managementPort: number
  /** Scheme and port that people see, which a proxy may change. */
  scheme: 'http' | 'https'
  publicPort: number | undefined
  /** Absolute. */
  dataDir: string
  demo: boolean
  logLevel: string
  maxUploadBytes: number
  trustedProxies: string[]
  limits: {
    signInPerAddressMinute: number
    verifyPerAddressMinute: number
    verifyPerAddressDay: number
    verifyPerCompanyDay: number
    verifyPerUserMinute: number
  }
}

/** Reads the environment once; throws one sentence for every wrong value, each naming its key. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== '')
  )
  const read = Settings.safeParse(given)
  if (!read.success) {
    const wrong = read.error.issues.map(
      ({ path, message }) =>
        `${String(path[0])}=${given[String(path[0])]} is not usable: ${message}.`
    )
    throw new Error([...new Set(wrong)].join('\n'))
  }
  const value = read.data
  const seen = publicAddress(value.PUBLIC_URL, value.PORT)
  return {
    port: value.PORT,
    host: value.HOST,
    managementPort: value.MANAGEMENT_PORT,
    ...seen,
    dataDir: resolve(value.DATA_DIR),
    demo: value.DEMO,
    logLevel: value.LOG_LEVEL,
    maxUploadBytes: value.MAX_UPLOAD_BYTES,
    trustedProxies: value.TRUSTED_PROXIES.split(',')
      .map(each => each.trim())
      .filter(Boolean),
    limits: {
      signInPerAddressMinute: value.LIMIT_SIGN_IN_PER_ADDRESS_MINUTE,
      verifyPerAddressMinute: value.LIMIT_VERIFY_PER_ADDRESS_MINUTE,
      verifyPerAddressDay: value.LIMIT_VERIFY_PER_ADDRESS_DAY,
      verifyPerCompanyDay: value.LIMIT_VERIFY_PER_COMPANY_DAY,
      verifyPerUserMinute: value.LIMIT_VERIFY_PER_USER_MINUTE
    }
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
