import type { ReceiptFormat } from '../../../contract/deposits.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { type Bytes, toUtf8 } from '../../../core/bytes.ts'
import { type Checkpoint, parseCheckpoint } from '../../../core/evidence/checkpoints.ts'
import { leafHash } from '../../../core/evidence/deposit-leaf.ts'
import { parseLeaf } from '../../../core/evidence/leaves.ts'
import { formatLogProof } from '../../../core/evidence/log-signing.ts'
import { verifyInclusion } from '../../../core/evidence/merkle-proofs.ts'
import { formatReceipt } from '../../../core/evidence/receipt.ts'
import { inclusionSteps } from '../../../core/evidence/tiles.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { LogState } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { logIdOf, tileReaderOf } from './logs.ts'
import { type DepositOpenings, readOpeningsOfDeposits } from './sealed-openings.ts'
import { isFrozen } from './seals.ts'

interface ReceiptInput {
  company_id: CompanyId
  user_id: string
  /** Of the deposit. */
  id: string
  format: ReceiptFormat
}

export interface ReceiptFile {
  name: string
  text: string
}

/** What the readers of a log get. */
interface SignedTree {
  note: string
  checkpoint: Checkpoint
}

interface PlacedLeaf {
  index: number
  leaf: string
}

interface Policy extends PlacedLeaf {
  /** The first signature of the log with it. */
  note: string | null
}

interface RecordInLog extends PlacedLeaf {
  company: string
  origin: string
  state: LogState
  /** Undefined before the log is begun. */
  policy: Policy | undefined
  open: DepositOpenings['fields']
}

// a log is signed every 200 ms, unless it is set to wait longer
const waitMs = 2000
// in case the signal gets lost
const pollMs = 500
// an operator has to look at the log
const pausedSeconds = 60

/**
 * Builds the receipt of a deposit of the person from the published files of the log. If the log is not
 * signed with it yet, `wait` runs the wait for that, of at most two seconds; then throws
 * `receipt_pending`.
 */
export async function createReceipt(
  deps: Pick<Deps, 'db' | 'companyKeys' | 'logFiles' | 'signals' | 'settings'>,
  input: ReceiptInput,
  wait: (run: () => Promise<void>) => Promise<void>
): Promise<ReceiptFile> {
  const read = () => inCompany(deps.db, input.company_id, tx => readRecord(tx, deps, input))
  let record = await read()
  let tree = await readTree(deps, record)
  if (!tree && record.state === 'running') {
    const isSealed = async () => (await readTree(deps, record)) !== undefined
    await wait(() => waitForSeal(deps, input.company_id, isSealed))
    record = await read()
    tree = await readTree(deps, record)
  }
  if (!tree) throw missingError(deps, record)
  const name = record.open['name']?.value ?? input.id
  return input.format === 'json'
    ? { name: `${name}.vidimus.json`, text: await formatJson(deps, record, tree) }
    : {
        name: `${name}.tlog-proof`,
        text: await proofOf(deps, record, record, tree, toUtf8(record.leaf))
      }
}

async function formatJson(
  deps: Pick<Deps, 'logFiles'>,
  record: RecordInLog,
  tree: SignedTree
): Promise<string> {
  const { origin, leaf, open, company: name, policy } = record
  if (!policy) throw new Error(`log ${origin} has no policy`)
  const parsed = parseLeaf(policy.leaf)
  if (parsed.type !== 'policy') throw new Error(`log ${origin} does not begin with its policy`)
  // a backup that was restored may lack its first signature; the newest proves it, too
  const first = policy.note === null ? tree : signedTree(policy.note)
  return formatReceipt({
    log: { name, origin, vkey: parsed.key.text },
    leaf,
    open,
    proof: await proofOf(deps, record, record, tree),
    keys: [{ leaf: policy.leaf, proof: await proofOf(deps, record, policy, first) }]
  })
}

/** Throws if the published files have another leaf there. */
async function proofOf(
  { logFiles }: Pick<Deps, 'logFiles'>,
  { origin, state }: RecordInLog,
  { index, leaf }: PlacedLeaf,
  { note, checkpoint: { size, root } }: SignedTree,
  extra?: Bytes
): Promise<string> {
  const read = tileReaderOf(logFiles, logIdOf(origin))
  const steps = await inclusionSteps(index, Number(size), read).catch(cause => {
    // an operator can write them again, and the log is not at fault
    throw new AppError('unavailable', 'A published file of the log cannot be read', { cause })
  })
  const proof = { index: BigInt(index), size, leafHash: leafHash(leaf), root, steps }
  if (verifyInclusion(proof)) return formatLogProof({ index, steps, note, ...(extra && { extra }) })
  // a database that was restored has other leaves, until `resync` puts them behind those of the files
  if (isFrozen(state)) throw pausedError()
  throw new Error(`log ${origin} was not signed with its leaf ${index}`)
}

async function readTree(
  { logFiles }: Pick<Deps, 'logFiles'>,
  { origin, state, index }: RecordInLog
): Promise<SignedTree | undefined> {
  // the file is missing, or the log has not signed it
  if (state === 'no_checkpoint') return undefined
  const note = await logFiles.readCheckpoint(logIdOf(origin))
  const tree = note === undefined ? undefined : signedTree(note)
  return tree && index < tree.checkpoint.size ? tree : undefined
}

function signedTree(note: string): SignedTree {
  return { note, checkpoint: parseCheckpoint(note) }
}

async function waitForSeal(
  { signals }: Pick<Deps, 'signals'>,
  company: CompanyId,
  isSealed: () => Promise<boolean>
): Promise<void> {
  const { promise: ended, resolve: end, reject } = Promise.withResolvers<void>()
  const check = () => void isSealed().then(sealed => sealed && end(), reject)
  const off = signals.seals.on(sealed => {
    if (sealed === company) check()
  })
  const poll = setInterval(check, pollMs)
  const timer = setTimeout(end, waitMs)
  check() // it may have been signed before the signal was listened to
  try {
    await ended
  } finally {
    off()
    clearInterval(poll)
    clearTimeout(timer)
  }
}

async function readRecord(
  tx: Tx,
  deps: Pick<Deps, 'companyKeys'>,
  { company_id, user_id, id }: ReceiptInput
): Promise<RecordInLog> {
  const row = await selectInCompany(tx, 'deposit')
    .innerJoin('company', 'company.id', 'deposit.company_id')
    .innerJoin('log_leaf', join => joinInCompany(join, 'log_leaf.leaf_id', 'deposit.id'))
    .innerJoin('log_state', join => joinInCompany(join, 'log_state.log_no', 'log_leaf.log_no'))
    .where('deposit.user_id', '=', user_id)
    .where('deposit.id', '=', id)
    .select([
      'company.name as company',
      'log_leaf.log_no',
      'log_leaf.idx as index',
      'log_leaf.leaf',
      'log_state.origin',
      'log_state.state'
    ])
    .executeTakeFirst()
  if (!row) throw new AppError('not_found', 'No such deposit')
  const openings = (await readOpeningsOfDeposits(tx, deps, { company_id, record_ids: [id] })).get(
    id
  )
  if (!openings) throw new AppError('receipt_gone', 'What the receipt would disclose is gone')
  const { log_no, ...record } = row
  return {
    ...record,
    policy: await readPolicy(tx, log_no),
    open: openings.fields
  }
}

// a log has one, its first leaf
async function readPolicy(tx: Tx, log_no: number): Promise<Policy | undefined> {
  return selectInCompany(tx, 'log_leaf')
    .where('log_no', '=', log_no)
    .where('idx', '=', 0)
    .select(({ selectFrom }) => [
      'idx as index',
      'leaf',
      selectFrom('log_checkpoint')
        .whereRef('log_checkpoint.company_id', '=', 'log_leaf.company_id')
        .whereRef('log_checkpoint.log_no', '=', 'log_leaf.log_no')
        .orderBy('log_checkpoint.size')
        .limit(1)
        .select('log_checkpoint.note')
        .as('note')
    ])
    .executeTakeFirst()
}

function missingError({ settings }: Pick<Deps, 'settings'>, { state }: RecordInLog): AppError {
  if (isFrozen(state)) return pausedError()
  if (state === 'retired')
    return new AppError('receipt_gone', 'The published files of the log are lost')
  const retryAfter = Math.max(waitMs, settings.logBatchMs) / 1000
  return new AppError('receipt_pending', 'The record is not sealed yet', {
    retryAfter: Math.ceil(retryAfter)
  })
}

function pausedError(): AppError {
  const detail = 'The record is not sealed yet: the sealing of this company is paused'
  return new AppError('receipt_pending', detail, { retryAfter: pausedSeconds })
}
