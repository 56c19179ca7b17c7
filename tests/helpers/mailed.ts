import type { LinkPurpose } from '../../src/contract/accounts.ts'
import { getChallenge } from '../../src/contract/sessions.ts'
import type { PublicKeyPurpose } from '../../src/core/keys/public-key-jwt.ts'
import { mailTokenHash } from '../../src/core/keys/public-key-proof.ts'
import { inCompany, toCompanyId } from '../../src/server/db/scope.ts'
import { addUser } from '../../src/server/domain/accounts/new-users.ts'
import { insertSignUpAndQueueMail } from '../../src/server/domain/accounts/signups.ts'
import {
  createEncryptedPublicKeyColumns,
  verifyKeyProof
} from '../../src/server/domain/key-proofs/key-proofs.ts'
import { createMailToken } from '../../src/server/domain/mail/mail-tokens.ts'
import type { TestApp } from './app.ts'
import { newEmail } from './client.ts'
import { makeKeys, type TestKeys } from './keys.ts'

interface MailRecipient {
  id: string
  email: string
  keys: TestKeys
}

const host = 'acme.localhost'

/** Creates a sign-up at acme that waits for confirmation by mail. */
export async function makeSignUp(app: TestApp): Promise<MailRecipient> {
  const keys = makeKeys()
  const email = newEmail()
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'signup' })
  const purpose = 'signup'
  const public_key_jwt = keys.publicKeyJwt({ aud: host, email, purpose, nonce })
  const tenant = await app.tenants.resolve(host)
  if (!tenant) throw new Error('no acme')
  const proof = verifyKeyProof({ tenant, email, purpose, public_key_jwt })
  const person = { tenant, email, username: 'Ada', locale: undefined }
  const { id } = await inCompany(app.deps.db, tenant.company_id, tx =>
    insertSignUpAndQueueMail(tx, app.deps, person, proof)
  )
  await app.allMailsSent()
  return { id, email, keys }
}

/**
 * Creates a person of acme who has signed up and has a key. If `isInvited`, the person is only
 * invited and the server knows no key of theirs.
 */
export async function makePerson(app: TestApp, isInvited = false): Promise<MailRecipient> {
  const keys = makeKeys()
  const email = newEmail()
  const company_id = toCompanyId(app.companies[host] ?? '')
  const key = isInvited ? undefined : { kdf: 'a1', jwk: keys.jwk }
  const user = { email, username: 'Ada', locale: undefined, key, isInvited }
  const id = await inCompany(app.deps.db, company_id, tx => addUser(tx, app.deps, user))
  if (id === undefined) throw new Error('the e-mail is taken')
  return { id, email, keys }
}

/** Returns the token that a mailed link to a person of acme would contain. */
export async function makeMailToken(
  app: TestApp,
  purpose: LinkPurpose,
  person: Pick<MailRecipient, 'id' | 'email'>
): Promise<string> {
  const company_id = toCompanyId(app.companies[host] ?? '')
  return inCompany(app.deps.db, company_id, tx => createMailToken(tx, app.deps, purpose, person))
}

/**
 * Returns a `public_key_jwt`, the signed proof with which a browser registers a new key. `token` is
 * the token of the mailed link that allows the registration.
 */
export async function publicKeyJwtFor(
  app: TestApp,
  purpose: PublicKeyPurpose,
  { email, token, keys = makeKeys() }: { email: string; token: string; keys?: TestKeys }
): Promise<string> {
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'signup' })
  return keys.publicKeyJwt({ aud: host, email, purpose, nonce, th: mailTokenHash(token) })
}

/**
 * Creates an unconfirmed change of e-mail, to the current e-mail by default. Returns the token of
 * the link that confirms it.
 */
export async function makeEmailChange(
  app: TestApp,
  person: MailRecipient,
  email = person.email
): Promise<string> {
  const company_id = toCompanyId(app.companies[host] ?? '')
  const key = { kdf: 'a1', jwk: person.keys.jwk }
  const place = { company_id, user_id: person.id }
  const created_at = app.deps.clock()
  await inCompany(app.deps.db, company_id, async tx => {
    await tx
      .deleteFrom('email_change')
      .where('company_id', '=', company_id)
      .where('user_id', '=', person.id)
      .execute()
    await tx
      .insertInto('email_change')
      .values({
        ...place,
        email,
        ...createEncryptedPublicKeyColumns(app.deps, place, key),
        created_at,
        expires_at: new Date(created_at.getTime() + 3_600_000)
      })
      .execute()
  })
  return makeMailToken(app, 'email', { id: person.id, email })
}
