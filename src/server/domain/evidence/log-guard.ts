import { areEqualBytes, type Bytes } from '../../../core/bytes.ts'
import { parseCheckpoint } from '../../../core/evidence/checkpoints.ts'
import { appendLeaf, emptyTree, rootOf } from '../../../core/evidence/merkle-tree.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import type { LogState } from '../../db/schema.ts'
import type { Tx } from '../../db/scope.ts'
import { isSignedBy, type LogKey } from './log-keys.ts'

/** What a log has published. Size 0 for nothing. */
export interface PublishedTree {
  size: number
  root: Bytes
}

export type GuardFinding =
  | { state: 'running'; published: PublishedTree }
  | { state: Exclude<LogState, 'running' | 'retired'> }

const nothing: PublishedTree = { size: 0, root: rootOf(emptyTree) }

/**
 * Compares the database with the published file. A database that was restored from a backup has
 * lost leaves that were signed, and signing on would give one size two roots.
 */
export async function guardLog(
  tx: Tx,
  log: { log_no: number; published_size: number; leaves: number; key: LogKey },
  file: string | undefined
): Promise<GuardFinding> {
  if (file === undefined) {
    const isNew = log.published_size === 0
    return isNew ? { state: 'running', published: nothing } : { state: 'no_checkpoint' }
  }
  const known = await findCheckpoint(tx, log.log_no, file)
  if (!known && !isSignedBy(log.key, file)) return { state: 'no_checkpoint' }
  const checkpoint = parseCheckpoint(file)
  const [size, root] = [Number(checkpoint.size), checkpoint.root]
  const isSame = known || (await hasRoot(tx, log, size, root))
  if (isSame && size <= log.leaves) return { state: 'running', published: { size, root } }
  return { state: size > log.published_size ? 'behind' : 'forked' }
}

// the very text that was signed
async function findCheckpoint(tx: Tx, log_no: number, note: string): Promise<boolean> {
  const size = Number(note.split('\n', 2)[1])
  if (!Number.isSafeInteger(size)) return false
  const row = await selectInCompany(tx, 'log_checkpoint')
    .where('log_no', '=', log_no)
    .where('size', '=', size)
    .select('note')
    .executeTakeFirst()
  return row?.note === note
}

async function hasRoot(
  tx: Tx,
  { log_no, leaves }: { log_no: number; leaves: number },
  size: number,
  root: Bytes
): Promise<boolean> {
  return size <= leaves && areEqualBytes(await readRoot(tx, log_no, size), root)
}

const leavesAtOnce = 10_000

/** Computes the root of the first `size` leaves in the database. Throws if they are not there. */
async function readRoot(tx: Tx, log_no: number, size: number): Promise<Bytes> {
  let tree = emptyTree
  while (tree.size < size) {
    const until = Math.min(size, tree.size + leavesAtOnce)
    for (const hash of await readLeafHashes(tx, log_no, tree.size, until))
      tree = appendLeaf(tree, hash)
  }
  return rootOf(tree)
}

/** From one index to before another. Throws if one of them is missing. */
export async function readLeafHashes(
  tx: Tx,
  log_no: number,
  from: number,
  to: number
): Promise<Bytes[]> {
  const rows = await selectInCompany(tx, 'log_leaf')
    .where('log_no', '=', log_no)
    .where('idx', '>=', from)
    .where('idx', '<', to)
    .orderBy('idx')
    .select('hash')
    .execute()
  if (rows.length !== to - from) throw new Error(`the log lacks leaves from ${from} to ${to}`)
  return rows.map(({ hash }) => new Uint8Array(hash))
}
