import { AppError } from '../../../contract/kit/errors.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type DepositOpenings, readOpeningsOfDeposits } from './sealed-openings.ts'

interface ReceiptInput {
  company_id: CompanyId
  user_id: string
  /** Of the deposit. */
  id: string
}

/** Throws `receipt_pending` until the log is signed with the leaf. */
export async function createReceipt(
  deps: Pick<Deps, 'db' | 'companyKeys'>,
  input: ReceiptInput
): Promise<never> {
  await inCompany(deps.db, input.company_id, async tx => {
    await findLeaf(tx, input)
    await readOpenings(tx, deps, input)
  })
  throw new AppError('receipt_pending', 'The record is not sealed yet', { retryAfter: 2 })
}

async function findLeaf(tx: Tx, { user_id, id }: ReceiptInput) {
  const leaf = await selectInCompany(tx, 'deposit')
    .innerJoin('log_leaf', join => joinInCompany(join, 'log_leaf.leaf_id', 'deposit.id'))
    .where('deposit.user_id', '=', user_id)
    .where('deposit.id', '=', id)
    .select(['log_leaf.log_no', 'log_leaf.idx', 'log_leaf.leaf'])
    .executeTakeFirst()
  if (!leaf) throw new AppError('not_found', 'No such deposit')
  return leaf
}

async function readOpenings(
  tx: Tx,
  deps: Pick<Deps, 'companyKeys'>,
  { company_id, id }: ReceiptInput
): Promise<DepositOpenings['fields']> {
  const found = await readOpeningsOfDeposits(tx, deps, { company_id, record_ids: [id] })
  const openings = found.get(id)
  if (!openings) throw new AppError('receipt_gone', 'The openings of the record are gone')
  return openings.fields
}
