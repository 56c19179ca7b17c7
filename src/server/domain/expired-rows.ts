import { deleteInCompany } from '../db/company-queries.ts'
import { inCompany } from '../db/scope.ts'
import type { CompanyId, Deps } from './deps.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

type Deletion = (deps: Pick<Deps, 'db' | 'clock'>, company_id: CompanyId) => Promise<void>

export const expiredRowDeletions: readonly Deletion[] = [
  // a used challenge must not become valid again if the clock is set back
  deletionFrom('used_challenge', hourMs),
  deletionFrom('session', 30 * dayMs),
  deletionFrom('signup', 0),
  deletionFrom('mail_token', 7 * dayMs)
]

function deletionFrom(
  table: 'used_challenge' | 'session' | 'signup' | 'mail_token',
  keptMs: number
): Deletion {
  return async ({ db, clock }, company_id) => {
    const before = new Date(clock().getTime() - keptMs)
    await inCompany(db, company_id, tx =>
      deleteInCompany(tx, table).where('expires_at', '<', before).execute()
    )
  }
}
