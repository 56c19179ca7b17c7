import { timingSafeEqual } from 'node:crypto'
import {
  type ChallengePayload,
  type ChallengePurpose,
  challengeSeconds,
  emailHash,
  formatChallenge,
  parseChallenge
} from '../../../core/keys/challenge.ts'
import type { KdfId } from '../../../core/keys/kdf.ts'
import { prepare } from '../../db/prepared-statements.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { consume } from '../rate-limits.ts'

/**
 * The only key derivation. Everybody has the same, so a challenge does not reveal whether an
 * account exists.
 */
const kdf: KdfId = 'a1'

/** The largest accepted difference between the clocks of two processes. */
const skewSeconds = 5

interface ChallengeUse {
  tenant: Tenant
  /** The e-mail in canonical form. */
  email: string
  purpose: ChallengePurpose
}

/**
 * Returns a new challenge. It is not stored, and no account is looked up. When it comes back, its
 * MAC proves that this installation created it.
 */
export async function createChallenge(
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'settings' | 'counters'>,
  { tenant, email, purpose, address }: ChallengeUse & { address: string }
): Promise<{ challenge: string; kdf: string }> {
  await consume(deps, 'sign_in_address', [tenant.company_id, { address }])
  const iat = Math.floor(deps.clock().getTime() / 1000)
  const payload: ChallengePayload = {
    aud: tenant.host,
    eh: emailHash(email),
    n: Buffer.from(deps.random(16)).toString('base64url'),
    iat,
    exp: iat + challengeSeconds,
    kdf,
    mk: deps.keys.kekId
  }
  const challenge = formatChallenge(purpose, payload, signed => deps.keys.mac('challenge', signed))
  return { challenge, kdf }
}

/**
 * Returns the contents of a challenge. Returns undefined if the challenge has expired, or if it is
 * for another host, e-mail or purpose.
 */
export function readChallenge(
  deps: Pick<Deps, 'keys' | 'clock'>,
  { challenge, tenant, email, purpose }: ChallengeUse & { challenge: string }
): ChallengePayload | undefined {
  const parsed = parseChallenge(challenge, purpose)
  if (!parsed || !timingSafeEqual(deps.keys.mac('challenge', parsed.signed), parsed.mac)) {
    return undefined
  }
  const { aud, eh, exp } = parsed.payload
  const fresh = deps.clock().getTime() / 1000 <= exp + skewSeconds
  return fresh && aud === tenant.host && eh === emailHash(email) ? parsed.payload : undefined
}

/**
 * Marks a challenge as used. Returns whether this was its first use. If calls run in parallel,
 * exactly one of them gets true.
 */
export async function spendChallenge(
  tx: Tx,
  company_id: CompanyId,
  challenge: Pick<ChallengePayload, 'n' | 'exp'>
): Promise<boolean> {
  const spent = await tx.run(insertSpent, spentChallengeRow(company_id, challenge))
  return spent.length > 0
}

const insertSpent = prepare((db, row: ReturnType<typeof spentChallengeRow>) =>
  db
    .insertInto('used_challenge')
    .values({ company_id: row.company_id, n: row.n, expires_at: row.expires_at })
    .onConflict(conflict => conflict.columns(['company_id', 'n']).doNothing())
    .returning('n')
)

/** Returns the row that marks a challenge as used until it expires. */
export function spentChallengeRow(
  company_id: CompanyId,
  { n, exp }: Pick<ChallengePayload, 'n' | 'exp'>
) {
  return { company_id, n, expires_at: new Date((exp + skewSeconds) * 1000) }
}

/** Deletes the marks of expired challenges. */
export async function deleteExpiredChallenges(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<void> {
  // an hour after they expired, so that a clock that is set back does not make used challenges
  // valid again
  const before = new Date(deps.clock().getTime() - 3_600_000)
  await inCompany(deps.db, company_id, tx =>
    tx
      .deleteFrom('used_challenge')
      .where('company_id', '=', company_id)
      .where('expires_at', '<', before)
      .execute()
  )
}
