import { sql } from 'kysely'
import { AppError } from '../../contract/errors.ts'
import { type UserInfo, UserLocale } from '../../contract/users.ts'
import { initials } from '../../core/format.ts'
import { isActiveKdf } from '../../core/kdf.ts'
import { type PublicKeyPayload, parsePublicKeyJwt } from '../../core/public-key-jwt.ts'
import { noncePurpose } from '../../core/public-key-proof.ts'
import { inCompany, type Tx } from '../db/scope.ts'
import { readChallenge, spendChallenge } from './challenges.ts'
import type { CompanyId, Deps, Tenant } from './deps.ts'
import { isLocalhost } from './domains.ts'
import { once } from './idempotency.ts'
import { newId, newRecordId } from './ids.ts'
import { consume, networkOf } from './limits.ts'
import { sealPublicKey, verifiesJwk } from './public-keys.ts'
import { type Person, renewToken } from './sessions.ts'
import { usageOf } from './usage.ts'

interface NewPerson {
  tenant: Tenant
  /** In canonical form. */
  email: string
  username: string
  public_key_jwt: string
  locale: 'en' | 'fr' | undefined
}

interface SignUp extends NewPerson {
  address: string
  idempotencyKey: string | undefined
}

/** Signs a person up, active at once: only loopback hosts take somebody whose e-mail nobody confirms. */
export async function createUser(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'log'>,
  input: SignUp
): Promise<{ body: { id: string }; replayed: boolean }> {
  const { tenant, idempotencyKey } = input
  if (!tenant.config.public || !deps.settings.loopback || !isLocalhost(tenant.host)) {
    throw new AppError('signup_closed', 'This host takes no sign-ups')
  }
  await consume(deps, 'sign_up_address', [tenant.company_id, networkOf(input.address)])
  const proof = provenKey(input)
  return inCompany(deps.db, tenant.company_id, async tx => {
    const effect = () => insertUser(tx, deps, input, proof)
    if (idempotencyKey === undefined) return { body: await effect(), replayed: false }
    const { tenant: _, address: __, idempotencyKey: key, ...fields } = input
    const act = { actor: nobody, route: 'POST /user', key: idempotencyKey, input: fields }
    return once(tx, { company_id: tenant.company_id, now: deps.clock(), act }, effect)
  })
}

/** What the screens show of the caller, with a fresh token when theirs is near its end. */
export async function getUser(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random'>,
  { tenant, person }: { tenant: Tenant; person: Person }
): Promise<UserInfo> {
  const user = await inCompany(deps.db, person.company_id, tx => readUser(tx, deps, tenant, person))
  const access_token = await renewToken(deps, { tenant, person })
  return { ...user, ...(access_token === undefined ? {} : { access_token }) }
}

/** Changes what is given. */
export async function updateUser(
  deps: Pick<Deps, 'db' | 'clock'>,
  {
    tenant,
    person,
    username,
    locale
  }: {
    tenant: Tenant
    person: Person
    username?: string | undefined
    locale?: 'en' | 'fr' | undefined
  }
): Promise<UserInfo> {
  return inCompany(deps.db, person.company_id, async tx => {
    if (username !== undefined || locale !== undefined) {
      await tx
        .updateTable('user')
        .set({
          ...(username === undefined ? {} : { username }),
          ...(locale === undefined ? {} : { locale })
        })
        .where('company_id', '=', person.company_id)
        .where('id', '=', person.id)
        .execute()
    }
    return readUser(tx, deps, tenant, person)
  })
}

/** Sign-ups have no caller yet; their keys are random, and the input is part of what must agree. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** The key, once it has signed for itself, for this host, this e-mail and a sign-up. */
export function provenKey({ tenant, email, public_key_jwt }: NewPerson): PublicKeyPayload {
  const jwt = parsePublicKeyJwt(public_key_jwt)
  if (
    jwt?.payload.purpose !== 'signup' ||
    jwt.payload.aud !== tenant.host ||
    jwt.payload.email !== email ||
    jwt.payload.th !== undefined ||
    !isActiveKdf(jwt.payload.kdf) ||
    !verifiesJwk(jwt.payload.jwk, jwt.signed, jwt.signature)
  ) {
    throw new AppError('key_invalid', 'public_key_jwt does not prove a key for this sign-up')
  }
  return jwt.payload
}

/** Makes the person of a proven key, once per challenge. */
export async function insertUser(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'log'>,
  { tenant, email, username, locale }: NewPerson,
  { nonce, kdf, jwk }: PublicKeyPayload,
  permissions: string[] = []
): Promise<{ id: string }> {
  const { company_id } = tenant
  const purpose = noncePurpose('signup')
  const challenge = readChallenge(deps, { challenge: nonce, tenant, email, purpose })
  if (!challenge || challenge.kdf !== kdf || !(await spendChallenge(tx, company_id, challenge))) {
    throw new AppError(
      'challenge_invalid',
      'The challenge is expired, used, or not for this sign-up'
    )
  }
  const key = { kdf, jwk }
  const id = await addUser(tx, deps, { company_id, email, username, locale, permissions, key })
  if (id === undefined) throw new AppError('email_taken', 'Somebody has signed up with this e-mail')
  deps.log.info({ audit: 'signup', company: company_id, user: id }, 'signed up')
  return { id }
}

interface NewUser extends Pick<SignUp, 'email' | 'username' | 'locale'> {
  company_id: CompanyId
  permissions?: string[]
  /** Without one nobody signs in. */
  key: Pick<PublicKeyPayload, 'kdf' | 'jwk'> | undefined
}

/** Writes a person into the company and its default group; `undefined` where the e-mail is taken. */
export async function addUser(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random'>,
  { company_id, email, username, locale, permissions = [], key }: NewUser
): Promise<string | undefined> {
  const now = deps.clock()
  const id = newId(deps)
  const user = await tx
    .insertInto('user')
    .values({
      company_id,
      id,
      account: newRecordId(deps),
      email,
      username,
      locale: locale ?? 'und',
      permissions,
      // no token is older than its person, whatever the clock does next
      tokens_valid_after: new Date(0),
      created_at: now
    })
    .onConflict(conflict => conflict.columns(['company_id', 'email']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!user) return undefined
  if (key) {
    const place = { company_id, user_id: id, key_id: newId(deps), kdf: key.kdf }
    await tx
      .insertInto('user_key')
      .values({
        ...place,
        pub_enc: sealPublicKey(deps.keys, place, key.jwk),
        kek_id: deps.keys.kekId,
        created_at: now
      })
      .execute()
  }
  await tx
    .insertInto('group_user')
    .columns(['company_id', 'group_id', 'user_id'])
    .expression(query =>
      query
        .selectFrom('group')
        .where('company_id', '=', company_id)
        .where('is_default', '=', true)
        .select(['company_id', 'id', sql<string>`${id}::uuid`.as('user_id')])
    )
    .execute()
  return id
}

/** What the screens show of a person, without a token. */
export async function readUser(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  tenant: Tenant,
  { company_id, id, pending, permissions }: Person
): Promise<UserInfo> {
  const user = await tx
    .selectFrom('user')
    .where('company_id', '=', company_id)
    .where('id', '=', id)
    .select(['email', 'username', 'locale'])
    .executeTakeFirstOrThrow()
  const groups = await tx
    .selectFrom('group')
    .innerJoin('group_user', join =>
      join
        .onRef('group_user.company_id', '=', 'group.company_id')
        .onRef('group_user.group_id', '=', 'group.id')
    )
    .where('group_user.company_id', '=', company_id)
    .where('group_user.user_id', '=', id)
    .select('group.features')
    .execute()
  const features = [...new Set(groups.flatMap(group => group.features))].sort()
  const usage = await usageOf(tx, { company_id, user_id: id, now: deps.clock() })
  return {
    id,
    email: user.email,
    username: user.username,
    initials: initials(user.username),
    locale: UserLocale.parse(user.locale),
    features: pending ? [] : features,
    permissions: pending ? [] : permissions,
    company: { id: company_id, name: tenant.config.company },
    usage_remaining: { requests: usage.requests_remaining, storage: usage.storage_remaining },
    usage
  }
}
