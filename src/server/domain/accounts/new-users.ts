import { sql } from 'kysely'
import type { PublicKeyPayload } from '../../../core/keys/public-key-jwt.ts'
import type { Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { newId, newRandomId } from '../ids.ts'
import { createEncryptedPublicKeyColumns } from '../key-proofs/key-proofs.ts'
import { requireRoom } from '../limits/bounds.ts'

interface NewUser {
  /** In the form that `canonicalEmail` returns. */
  email: string
  username: string
  locale: 'en' | 'fr' | undefined
  /** The id of the sign-up that becomes this person. */
  id?: string
  permissions?: string[]
  /** Undefined for an invited person, who has no password yet. */
  key:
    | Pick<PublicKeyPayload, 'kdf' | 'jwk'>
    | ReturnType<typeof createEncryptedPublicKeyColumns>
    | undefined
  /** The caller must then queue the invitation mail itself. */
  isInvited?: boolean
  /** The caller must have locked these groups. Undefined stands for the company's default group. */
  group_ids?: string[] | undefined
}

/** Returns undefined if the e-mail already has an account. */
export async function addUser(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'settings'>,
  {
    email,
    username,
    locale,
    permissions = [],
    key,
    isInvited = false,
    group_ids,
    ...given
  }: NewUser
): Promise<string | undefined> {
  const company_id = tx.companyId
  const now = deps.clock()
  const id = given.id ?? newId(deps)
  await requireRoom(tx, deps, 'people')
  const user = await tx
    .insertInto('user')
    .values({
      company_id,
      id,
      account: newRandomId(deps),
      email,
      username,
      locale: locale ?? 'und',
      permissions,
      // earlier than the creation of any token, even if the clock is set back later
      tokens_valid_after: new Date(0),
      created_at: now,
      activated_at: key ? now : null,
      invited_at: isInvited ? now : null,
      invitation_waits: isInvited
    })
    .onConflict(conflict => conflict.columns(['company_id', 'email']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!user) return undefined
  if (key) {
    const place = { company_id, user_id: id }
    const sealed = 'pub_enc' in key ? key : createEncryptedPublicKeyColumns(deps, place, key)
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
        .where(
          group_ids === undefined
            ? sql<boolean>`is_default`
            : sql<boolean>`id = any (${group_ids}::uuid[])`
        )
        .select(['company_id', 'id', sql<string>`${id}::uuid`.as('user_id')])
    )
    .execute()
  return id
}
