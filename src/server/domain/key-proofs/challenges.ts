import { timingSafeEqual } from 'node:crypto'
import {
  type ChallengePayload,
  type ChallengePurpose,
  challengeLifetimeSeconds,
  emailHash,
  formatChallenge,
  parseChallenge
} from '../../../core/keys/challenge.ts'
import type { KdfId } from '../../../core/keys/kdf.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { consumeRateLimit } from '../limits/rate-limits.ts'

// the same for every e-mail, so a challenge does not reveal whether an account exists
const kdf: KdfId = 'a1'

// accepted this long after its end, because the clocks of two processes may differ
const skewSeconds = 5

interface ChallengeUse {
  tenant: Tenant
  email: string
  purpose: ChallengePurpose
}

/**
 * Stores nothing and looks up no account: a MAC proves later that this installation created the
 * challenge.
 */
export async function createChallenge(
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'settings' | 'counters'>,
  { tenant, email, purpose, address }: ChallengeUse & { address: string }
): Promise<{ challenge: string; kdf: string }> {
  await consumeRateLimit(deps, 'sign_in_address', [tenant.company_id, { address }])
  const iat = Math.floor(deps.clock().getTime() / 1000)
  const payload: ChallengePayload = {
    aud: tenant.host,
    eh: emailHash(email),
    n: Buffer.from(deps.random(16)).toString('base64url'),
    iat,
    exp: iat + challengeLifetimeSeconds,
    kdf,
    mk: deps.keys.rootSecretId
  }
  const challenge = formatChallenge(purpose, payload, signed => deps.keys.mac('challenge', signed))
  return { challenge, kdf }
}

/**
 * Returns undefined if the challenge was changed, has expired or is for another host, e-mail or
 * purpose.
 */
export function readValidChallenge(
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

/** Returns false if the challenge was used before. Of parallel calls, exactly one gets true. */
export async function spendChallenge(
  tx: Tx,
  challenge: Pick<ChallengePayload, 'n' | 'exp'>
): Promise<boolean> {
  const spent = await tx
    .insertInto('used_challenge')
    .values(buildUsedChallengeRow(tx.companyId, challenge))
    .onConflict(conflict => conflict.columns(['company_id', 'n']).doNothing())
    .returning('n')
    .execute()
  return spent.length > 0
}

export function buildUsedChallengeRow(
  company_id: CompanyId,
  { n, exp }: Pick<ChallengePayload, 'n' | 'exp'>
) {
  return { company_id, n, expires_at: new Date((exp + skewSeconds) * 1000) }
}
