import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import type { Session } from '../../../contract/sessions.ts'
import { type OwnAccount, UserLocale } from '../../../contract/users.ts'
import type { PublicKeyPayload } from '../../../core/keys/public-key-jwt.ts'
import { initials } from '../../../core/text/initials.ts'
import { updateById } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { chooseMailLinkDelivery } from '../developer-machine.ts'
import { readRequests } from '../history/requests.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import { spendKeyProof, verifyKeyProof } from '../key-proofs/key-proofs.ts'
import { consumeMailLimits, consumeRateLimit } from '../limits/rate-limits.ts'
import { readUsageOfPersonAndGroups } from '../limits/usage.ts'
import {
  type AuthenticatedCaller,
  readPersonSessions,
  renewAccessToken
} from '../sessions/sessions.ts'
import { addUser } from './new-users.ts'
import { insertSignUpAndQueueMail } from './signups.ts'

interface NewPerson {
  tenant: Tenant
  email: string
  username: string
  public_key_jwt: string
  locale: 'en' | 'fr' | undefined
}

interface SignUp extends NewPerson {
  address: string
  isDeveloper: boolean
  idempotencyKey: string | undefined
}

/**
 * Without a mail server on a developer's machine, the account is active immediately. Otherwise the
 * e-mail must be confirmed first, and the response does not reveal whether it already has an
 * account.
 */
export async function createUser(
  deps: Pick<
    Deps,
    'db' | 'keys' | 'clock' | 'random' | 'settings' | 'log' | 'signals' | 'counters'
  >,
  input: SignUp
): Promise<{ body: { id: string }; replayed: boolean }> {
  const { tenant, email, address, isDeveloper } = input
  if (!tenant.config.public) throw new AppError('signup_closed', 'This host takes no sign-ups')
  const needsConfirmation = deps.settings.mailServer || !isDeveloper
  await consumeRateLimit(deps, 'sign_up_address', [tenant.company_id, { address }])
  if (needsConfirmation) await consumeMailLimits(deps, { tenant, email, address })
  const proof = verifyKeyProof({ ...input, purpose: 'signup' })
  return inCompany(deps.db, tenant.company_id, async tx => {
    const insert = needsConfirmation ? insertSignUpAndQueueMail : insertActiveUser
    const effect = () => insert(tx, deps, input, proof)
    const { tenant: _, address: __, isDeveloper: ___, idempotencyKey: key, ...fields } = input
    return runOnce(tx, deps, { actor: nobody, route: 'POST /user', key, input: fields }, effect)
  })
}

export async function getOwnAccount(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings'>,
  {
    tenant,
    person,
    isDeveloper
  }: { tenant: Tenant; person: AuthenticatedCaller; isDeveloper: boolean }
): Promise<OwnAccount> {
  const user = await inCompany(deps.db, person.company_id, tx =>
    readOwnAccount(tx, deps, tenant, person)
  )
  const access_token = await renewAccessToken(deps, { tenant, person })
  return {
    ...withDelivery(deps, user, isDeveloper),
    ...(person.confirmed ? { confirmed: true } : {}),
    ...(access_token === undefined ? {} : { access_token })
  }
}

function withDelivery(
  { settings }: Pick<Deps, 'settings'>,
  user: OwnAccount,
  isDeveloper: boolean
): OwnAccount {
  return user.pending ? { ...user, delivery: chooseMailLinkDelivery(settings, isDeveloper) } : user
}

export async function updateOwnAccount(
  deps: Pick<Deps, 'db' | 'clock' | 'settings'>,
  {
    tenant,
    person,
    isDeveloper,
    username,
    locale
  }: {
    tenant: Tenant
    person: AuthenticatedCaller
    isDeveloper: boolean
    username?: string | undefined
    locale?: 'en' | 'fr' | undefined
  }
): Promise<OwnAccount> {
  return inCompany(deps.db, person.company_id, async tx => {
    if (username !== undefined || locale !== undefined) {
      const { id, pending } = person
      const changes = {
        ...(username === undefined ? {} : { username }),
        ...(locale === undefined ? {} : { locale })
      }
      const update = pending
        ? updateById(tx, 'signup', id).set(changes)
        : updateById(tx, 'user', id).set({ ...changes, version: sql<number>`version + 1` })
      await update.execute()
    }
    return withDelivery(deps, await readOwnAccount(tx, deps, tenant, person), isDeveloper)
  })
}

const exportedRequests = 200
const maxExportedSessions = 100

export async function exportOwnData(
  deps: Pick<Deps, 'db' | 'clock'>,
  {
    tenant,
    person,
    cursor
  }: { tenant: Tenant; person: AuthenticatedCaller; cursor?: string | undefined }
): Promise<{
  account: OwnAccount
  sessions: Session[]
  requests: ProcessedRequest[]
  complete: boolean
}> {
  const { company_id, id: user_id } = person
  const read = async (tx: Tx) => {
    const account = await readOwnAccount(tx, deps, tenant, person)
    const { items: sessions } = await readPersonSessions(tx, deps, person, {
      limit: maxExportedSessions
    })
    const page = { company_id, user_id, cursor, limit: exportedRequests }
    const { items: requests, next } = await readRequests(tx, page)
    return { account, sessions, requests, complete: next === undefined }
  }
  return inCompany(deps.db, company_id, read)
}

// Stands for the caller's id when the idempotency key of a sign-up is stored, because the caller
// has no account yet. All sign-ups share it. That is safe: to get the stored response of another
// sign-up, a caller would need its random idempotency key and its input.
const nobody = '00000000-0000-0000-0000-000000000000'

/** Uses up the challenge of `proof`. Throws `email_taken` if the e-mail has an account. */
export async function insertActiveUser(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'log' | 'settings'>,
  { tenant, email, username, locale }: NewPerson,
  proof: PublicKeyPayload,
  permissions: string[] = []
): Promise<{ id: string }> {
  const { company_id } = tenant
  await spendKeyProof(tx, deps, tenant, proof)
  const key = { kdf: proof.kdf, jwk: proof.jwk }
  const id = await addUser(tx, deps, { email, username, locale, permissions, key })
  if (id === undefined) throw new AppError('email_taken', 'Somebody has signed up with this e-mail')
  const facts = { audit: 'signup', company: company_id, user: id }
  tx.afterCommit(() => deps.log.info(facts, 'signed up'))
  return { id }
}

async function readOwnAccount(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  tenant: Tenant,
  person: AuthenticatedCaller
): Promise<OwnAccount> {
  const { company_id, id, pending, permissions } = person
  const row = await tx
    .selectFrom(pending ? 'signup' : 'user')
    .where('company_id', '=', company_id)
    .where('id', '=', id)
    .select(['email', 'username', 'locale'])
    .executeTakeFirst()
  const groups = pending ? [] : await readFeatures(tx, company_id, id)
  const usage = pending
    ? undefined
    : await readUsageOfPersonAndGroups(tx, { company_id, user_id: id, now: deps.clock() })
  // the sign-up was confirmed or deleted after the caller was authenticated
  if (!row && pending) return readOwnAccount(tx, deps, tenant, { ...person, pending: false })
  if (!row) throw new AppError('unauthenticated', 'The sign-up is over')
  const { email, username, locale } = row
  const shown = {
    id,
    email,
    username,
    initials: initials(username),
    locale: UserLocale.parse(locale),
    company: { id: company_id, name: tenant.config.company }
  }
  if (!usage) {
    const nothing = { requests: 0, storage: 0 }
    return { ...shown, features: [], permissions: [], usage_remaining: nothing, pending: true }
  }
  const { total } = usage
  return {
    ...shown,
    features: [...new Set(groups.flatMap(group => group.features))].sort(),
    permissions,
    usage_remaining: { requests: total.requests_remaining, storage: total.storage_remaining },
    usage: total
  }
}

function readFeatures(tx: Tx, company_id: CompanyId, user_id: string) {
  return tx
    .selectFrom('group')
    .innerJoin('group_user', join => joinInCompany(join, 'group_user.group_id', 'group.id'))
    .where('group_user.company_id', '=', company_id)
    .where('group_user.user_id', '=', user_id)
    .select('group.features')
    .execute()
}
