import { sql } from 'kysely'
import type { PublicKeyPayload } from '../../../core/keys/public-key-jwt.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { newId, newRecordId } from '../ids.ts'
import { sealKey } from '../key-proofs/key-proofs.ts'

interface NewUser {
  /** In canonical form. */
  email: string
  username: string
  locale: 'en' | 'fr' | undefined
  company_id: CompanyId
  /** Id of the sign-up that becomes a person. */
  id?: string
  permissions?: string[]
  /** Without a key the person cannot sign in. */
  key: Pick<PublicKeyPayload, 'kdf' | 'jwk'> | ReturnType<typeof sealKey> | undefined
  /** Invited by an administrator. */
  isInvited?: boolean
}

/**
 * Adds a person to the company and its default group. Returns their id, or undefined where the
 * e-mail is taken.
 */
export async function addUser(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random'>,
  { company_id, email, username, locale, permissions = [], key, isInvited, ...given }: NewUser
): Promise<string | undefined> {
  const now = deps.clock()
  const id = given.id ?? newId(deps)
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
      // every token is newer than this, whatever the clock does next
      tokens_valid_after: new Date(0),
      created_at: now,
      invited_at: isInvited ? now : null
    })
    .onConflict(conflict => conflict.columns(['company_id', 'email']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!user) return undefined
  if (key) {
    const place = { company_id, user_id: id }
    const sealed = 'pub_enc' in key ? key : sealKey(deps, place, key)
    await tx
      .insertInto('user_key')
      .values({ ...place, ...sealed, created_at: now })
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
