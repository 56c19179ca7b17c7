import { randomBytes } from 'node:crypto'
import { inCompany } from '../../../src/server/db/scope.ts'
import {
  type NewDepositRecord,
  recordDeposits
} from '../../../src/server/domain/deposits/deposit-records.ts'
import type { CompanyId, Deps } from '../../../src/server/domain/deps.ts'
import { newId, newRandomId } from '../../../src/server/domain/ids.ts'

export interface Depositor {
  id: string
  company: CompanyId
  category: string
}

/** `original` is the SHA-256 of a file that nobody keeps. */
export type MadeDeposit = Pick<NewDepositRecord, 'record_id' | 'original'>

/** Records fingerprints in the transaction of deposits, without their calls. */
export async function makeDeposits(
  deps: Deps,
  depositor: Depositor,
  count: number,
  atOnce = 500
): Promise<MadeDeposit[]> {
  const made: MadeDeposit[] = []
  while (made.length < count) {
    const length = Math.min(atOnce, count - made.length)
    const records = Array.from({ length }, () => depositRecord(deps, depositor))
    await inCompany(deps.db, depositor.company, tx => recordDeposits(tx, deps, records))
    made.push(...records)
  }
  return made
}

/** Of a file that nobody keeps. */
export function depositRecord(deps: Deps, { id, company, category }: Depositor): NewDepositRecord {
  const now = deps.clock()
  const record_id = newRandomId(deps)
  const file = { name: 'report.pdf', size: 20_000, media_type: 'application/pdf' }
  return {
    ...file,
    company_id: company,
    record_id,
    request_id: newId(deps),
    user_id: id,
    category_id: category,
    original: randomBytes(32),
    kept: undefined,
    transform: null,
    request_created: now,
    request_facts: {
      ...file,
      category_id: category,
      deposit_id: record_id,
      store: 'fingerprint' as const
    },
    now
  }
}
