import { timingSafeEqual } from 'node:crypto'
import { AppError } from '../../../contract/kit/errors.ts'
import { splitChallengeResponse } from '../../../core/keys/challenge.ts'
import type { PublicKeyJwk } from '../../../core/keys/public-key-jwt.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import type { DisabledMark } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { demoPublicKey } from '../demo-account.ts'
import type { CompanyId, Deps, InstallationKeys, Tenant } from '../deps.ts'
import { readValidChallenge, spendChallenge } from '../key-proofs/challenges.ts'
import {
  type EncryptedPublicKey,
  encryptPublicKey,
  verifySignatureWithEncryptedKey,
  verifySignatureWithJwk
} from '../key-proofs/public-keys.ts'
import {
  consumeRateLimit,
  type RateLimitKey,
  type RateLimitName,
  runWithFailureLimits
} from '../limits/rate-limits.ts'
import { issueAccessToken, newAccessTokenExpiry } from './access-tokens.ts'
import { accountDisabledError } from './authentication.ts'
import { createSession, endSessionsBeyondLimit } from './sessions.ts'

interface LogIn {
  tenant: Tenant
  email: string
  challenge_response: string
  /** The value of `createDeviceProof` that this browser got at an earlier login. */
  device: string | undefined
  address: string
  agent: string
  isDeveloper: boolean
}

/**
 * Every wrong login throws `login_failed` after the same time, so nothing reveals whether the
 * account exists. Throws `account_disabled` only if the password is correct.
 */
export async function logIn(
  deps: Pick<
    Deps,
    'db' | 'keys' | 'clock' | 'random' | 'settings' | 'log' | 'counters' | 'signals'
  >,
  input: LogIn
): Promise<{ access_token: string; device: string }> {
  const { tenant, email, address } = input
  const { company_id } = tenant
  await consumeRateLimit(deps, 'sign_in_address', [company_id, { address }])
  const response = splitChallengeResponse(input.challenge_response)
  const challenge =
    response && readValidChallenge(deps, { ...response, tenant, email, purpose: 'login' })
  if (!response || !challenge || isDemoKey(input, response)) throw loginFailed(deps, input)
  // created for each login, even if it is not needed, so that the duration reveals nothing
  const decoy = sealDecoy(deps.keys)
  const findHolder = (accounts: (Account | undefined)[]) =>
    holderAmong(deps.keys, accounts, decoy, response)
  // a failed login rolls back, because a commit may wait for the disk, and the duration would
  // reveal that the account exists
  const attempt = async () => {
    const outcome = await inCompany(deps.db, company_id, async tx => {
      const person = await findPerson(tx, email)
      const account = findHolder([person]) ?? findHolder(await findWaiting(tx, deps, email))
      if (!account) throw loginFailed(deps, input)
      const { disabled, permissions } = account
      // people of a suspended company are told so only once they have proved who they are
      const refusal = disabled
        ? accountDisabledError('user', disabled)
        : tenant.disabled && accountDisabledError('company', tenant.disabled, permissions)
      return refusal
        ? (await spendChallenge(tx, challenge)) && { refusal }
        : await createSession(tx, deps, input.agent, account, challenge)
    })
    if (!outcome) throw loginFailed(deps, input)
    return outcome
  }
  const outcome = await runWithFailureLimits(deps, await failureLimits(deps, input), attempt)
  if ('refusal' in outcome) throw outcome.refusal
  await endSessionsBeyondLimit(deps, company_id, outcome)
  const { user_id, session_id, pending, created_at, expires_at } = outcome
  deps.log.info({ audit: 'login_ok', company: company_id, user: user_id }, 'signed in')
  const access_token = await issueAccessToken(deps, tenant, {
    user_id,
    session_id,
    pending,
    signedIn: created_at,
    expires: newAccessTokenExpiry(created_at, expires_at)
  })
  return { access_token, device: createDeviceProof(deps, company_id, user_id) }
}

// everybody knows the password of the demonstration's account
function isDemoKey(
  { tenant, isDeveloper }: LogIn,
  { challenge, signature }: { challenge: string; signature: Uint8Array }
): boolean {
  if (isDeveloper || !tenant.config.demo) return false
  return verifySignatureWithJwk(demoPublicKey, Buffer.from(challenge), signature)
}

interface Account {
  user_id: string
  disabled: DisabledMark | null
  permissions: readonly string[]
  tokens_valid_after: Date
  /** Undefined if the account is a person's. */
  waits_until?: Date
  key: EncryptedPublicKey
}

async function findPerson(tx: Tx, email: string): Promise<Account | undefined> {
  const company_id = tx.companyId
  const [row] = await tx.raw<PersonRow>({ text: personSql, values: [company_id, email] })
  if (!row) return undefined
  const { id: user_id, disabled, permissions, tokens_valid_after, ...stored } = row
  const key = { company_id, user_id, ...stored }
  return { user_id, disabled, permissions, tokens_valid_after, key }
}

type PersonRow = Omit<Account, 'user_id' | 'waits_until' | 'key'> &
  Omit<EncryptedPublicKey, 'company_id' | 'user_id'> & { id: string }

// locked against a parallel change of password: either the change waits for this login and then
// ends its session, or this login reads the new key
const personSql = `
  select person.id, person.disabled, person.permissions, person.tokens_valid_after,
    user_key.key_id, user_key.kdf, user_key.pub_enc
  from "user" person
  join user_key on user_key.company_id = person.company_id and user_key.user_id = person.id
  where person.company_id = $1 and person.email = $2 and user_key.retired_at is null
  order by user_key.created_at desc
  limit 1
  for key share of user_key`

// only the newest sign-ups of one e-mail can sign in
const maxWaiting = 3

// The person is read anew, because a sign-up may have been confirmed meanwhile. Missing sign-ups
// are undefined, so that the list always has the same length and the duration of the login does not
// reveal how many exist.
async function findWaiting(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  email: string
): Promise<(Account | undefined)[]> {
  const company_id = tx.companyId
  const rows = await selectInCompany(tx, 'signup')
    .where('email', '=', email)
    .where('expires_at', '>', deps.clock())
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .select(['id', 'key_id', 'kdf', 'pub_enc', 'expires_at'])
    .limit(maxWaiting)
    // locked against a parallel confirmation: either the confirmation waits for this login and
    // keeps its session, or this login reads the new person
    .forKeyShare()
    .execute()
  const person = await findPerson(tx, email)
  const signUps = rows.map(({ id: user_id, expires_at: waits_until, ...key }) => ({
    user_id,
    disabled: null,
    permissions: [],
    tokens_valid_after: new Date(0),
    waits_until,
    key: { company_id, user_id, ...key }
  }))
  const empty = Array.from({ length: maxWaiting - signUps.length }, () => undefined)
  return [...signUps, ...empty, person]
}

// Verifies once for each entry, with the decoy key for an entry without an account, so that the
// response time does not reveal how many accounts exist.
function holderAmong(
  keys: InstallationKeys,
  accounts: (Account | undefined)[],
  decoy: EncryptedPublicKey,
  { challenge, signature }: { challenge: string; signature: Uint8Array }
): Account | undefined {
  const signed = Buffer.from(challenge)
  const holders = accounts.filter(account =>
    verifySignatureWithEncryptedKey(keys, account?.key ?? decoy, signed, signature)
  )
  return holders.find(holder => holder !== undefined)
}

// A valid key whose private key nobody has. A login without an account decrypts and verifies it, so
// that it takes as long as any other.
const decoyKey: PublicKeyJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'XP1HSRyppt0EUgyYy1CPLgsfOqfoN4rjZq9HUFT0CpA',
  y: 'Nu1_pZ4pIyuicDt5zoRGadEl6kxU0WX88dypXW7wq7I'
}

function sealDecoy(keys: InstallationKeys): EncryptedPublicKey {
  const row = { company_id: 'decoy', user_id: 'decoy', key_id: 'decoy', kdf: 'a1' }
  return { ...row, pub_enc: encryptPublicKey(keys, row, decoyKey) }
}

// A browser in which the person has signed in before has its own counter, so that failures
// elsewhere do not block the account's owner.
async function failureLimits(
  deps: Pick<Deps, 'db' | 'keys'>,
  { tenant, email, device, address }: LogIn
): Promise<[RateLimitName, RateLimitKey][]> {
  const { company_id } = tenant
  if (device !== undefined) {
    const person = await inCompany(deps.db, company_id, tx => findPerson(tx, email))
    if (person && isValidDeviceProof(deps, device, company_id, person.user_id)) {
      return [['login_device', [company_id, device]]]
    }
  }
  return [
    ['login_address', [company_id, email, { address }]],
    ['login_email', [company_id, email]]
  ]
}

function loginFailed(deps: Pick<Deps, 'keys' | 'log'>, { tenant, email }: LogIn): AppError {
  const who = deps.keys.mac('pseudonym', `email|${email}`).toString('hex').slice(0, 16)
  deps.log.warn({ audit: 'login_failed', company: tenant.company_id, who }, 'login refused')
  return new AppError('login_failed', 'E-mail and password do not match, or the challenge is used')
}

// a value for the browser to store, which proves at later logins that the person has signed in with
// it before
function createDeviceProof(
  deps: Pick<Deps, 'keys' | 'random'>,
  company_id: CompanyId,
  user_id: string
): string {
  const random = Buffer.from(deps.random(16)).toString('base64url')
  return `${random}.${deviceMac(deps, company_id, user_id, random).toString('base64url')}`
}

function isValidDeviceProof(
  deps: Pick<Deps, 'keys'>,
  device: string,
  company_id: CompanyId,
  user_id: string
): boolean {
  // accept only one spelling, because each spelling would have a counter of its own
  const [, random = '', mac = ''] =
    /^([\w-]{21}[AQgw])\.([\w-]{42}[AEIMQUYcgkosw048])$/.exec(device) ?? []
  return (
    random !== '' &&
    timingSafeEqual(deviceMac(deps, company_id, user_id, random), Buffer.from(mac, 'base64url'))
  )
}

function deviceMac(
  deps: Pick<Deps, 'keys'>,
  company_id: CompanyId,
  user_id: string,
  random: string
): Buffer {
  return deps.keys.mac('device', `${company_id}|${user_id}|${random}`)
}
