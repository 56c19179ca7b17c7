import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toBase64 } from '../../src/core/bytes.ts'
import { parseCheckpoint } from '../../src/core/evidence/checkpoints.ts'
import { leafHash } from '../../src/core/evidence/deposit-leaf.ts'
import { parseLogPolicy } from '../../src/core/evidence/log-policy.ts'
import { appendLeaf, emptyTree, rootOf } from '../../src/core/evidence/merkle-tree.ts'
import { findSigners, parseVerifierKey } from '../../src/core/evidence/signed-notes.ts'
import { verify } from '../../src/core/evidence/verification.ts'
import { readConfig } from '../../src/server/config.ts'
import type { CompanyId, Deps } from '../../src/server/domain/deps.ts'
import { findLogFault } from '../../src/server/domain/evidence/log-monitor.ts'
import { logIdOf } from '../../src/server/domain/evidence/logs.ts'
import { createReceipt } from '../../src/server/domain/evidence/receipts.ts'
import { openDeps } from '../../src/server/open-deps.ts'
import { readPublished } from '../../tests/helpers/evidence/published-log.ts'
import type { ServiceProcess } from '../../tests/helpers/service.ts'

type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>

interface LogRow {
  company_id: CompanyId
  log_no: number
  origin: string
  key_version: number
  state: string
  published_size: number
  leaves: number
}

export type SeenCheckpoints = Map<string, Set<string>>

/** Keeps each checkpoint that readers could see in this folder, by the ids of the logs. */
export function watchCheckpoints(folder: string): { end(): Promise<SeenCheckpoints> } {
  const seen: SeenCheckpoints = new Map()
  let isOver = false
  async function look(): Promise<void> {
    for (const id of await readdir(folder).catch(() => [])) {
      const note = await readFile(join(folder, id, 'checkpoint'), 'utf8').catch(() => undefined)
      if (note !== undefined) seen.set(id, (seen.get(id) ?? new Set<string>()).add(note))
    }
  }
  const watching = (async () => {
    for (; !isOver; await sleep(5)) await look()
    await look()
  })()
  return {
    async end() {
      isOver = true
      await watching
      return seen
    }
  }
}

/** Checks the logs and receipts of a running service, all of whose leaves are published. */
export async function checkLogsOf(service: ServiceProcess, seen: SeenCheckpoints) {
  const quiet = { info() {}, warn: console.warn, error: console.error }
  const config = readConfig({ DATA_DIR: service.dataDir, DATABASE_NOTIFY: 'false' })
  await using opened = await openDeps(config, quiet)
  const { faults, ...counts } = await checkPublishedLogs(opened.deps, service.query, seen)
  const { faults: unproved, receipts } = await checkReceipts(opened.deps, service.query)
  return { faults: [...faults, ...unproved], figures: { ...counts, receipts } }
}

/**
 * Checks the published files of all logs, once all leaves are published: each size that was ever
 * signed or seen has one root, which is that of the entries, and the monitor finds no fault. `unrecorded`
 * counts checkpoints that were seen and have no row.
 */
export async function checkPublishedLogs(
  deps: Pick<Deps, 'db' | 'keys' | 'logFiles'>,
  query: Query,
  seen: SeenCheckpoints
): Promise<{ faults: string[]; checkpoints: number; unrecorded: number }> {
  const logs = await query<LogRow>(
    `select s.company_id, s.log_no, s.origin, s.key_version, s.state,
            s.published_size::int, (select count(*)::int from log_leaf l
              where (l.company_id, l.log_no) = (s.company_id, s.log_no)) as leaves
       from log_state s`
  )
  const faults: string[] = []
  let [checkpoints, unrecorded] = [0, 0]
  for (const log of logs) {
    const { origin, state, leaves, published_size } = log
    if (state !== 'running') faults.push(`log ${origin} is ${state}`)
    if (leaves !== published_size)
      faults.push(`log ${origin} has published ${published_size} of ${leaves} leaves`)
    const fault = await findLogFault(deps, log.company_id, log)
    if (fault) faults.push(`log ${origin}: ${fault}`)
    const rows = await query<{ note: string }>(
      'select note from log_checkpoint where company_id = $1 and log_no = $2',
      [log.company_id, log.log_no]
    )
    const kept = new Set(rows.map(({ note }) => note))
    const notes = kept.union(seen.get(logIdOf(origin)) ?? new Set<string>())
    unrecorded += notes.size - kept.size
    faults.push(...(await checkNotes(deps, origin, notes)))
    checkpoints += notes.size
  }
  return { faults, checkpoints, unrecorded }
}

async function checkNotes(
  { logFiles }: Pick<Deps, 'logFiles'>,
  origin: string,
  notes: ReadonlySet<string>
): Promise<string[]> {
  const { leaves } = await readPublished(logFiles, origin)
  const roots = rootsOf(leaves)
  const key = parseVerifierKey(JSON.parse(leaves[0] ?? '{}').log)
  const bySize = new Map<bigint, string>()
  const faults: string[] = []
  for (const text of notes) {
    const { size, root, note, ...checkpoint } = parseCheckpoint(text)
    const isSigned = findSigners(note, [key]).length === 1 && checkpoint.origin === origin
    if (!isSigned) faults.push(`log ${origin} has not signed its checkpoint of ${size}`)
    if (roots[Number(size)] !== toBase64(root))
      faults.push(`log ${origin} has other entries than were signed at ${size}`)
    if (bySize.has(size)) faults.push(`log ${origin} has signed ${size} twice`)
    bySize.set(size, text)
  }
  return faults
}

// by size
function rootsOf(leaves: readonly string[]): string[] {
  const roots = [toBase64(rootOf(emptyTree))]
  let tree = emptyTree
  for (const leaf of leaves) {
    tree = appendLeaf(tree, leafHash(leaf))
    roots.push(toBase64(rootOf(tree)))
  }
  return roots
}

/**
 * Makes the receipts of all deposits, or of `atMost` any. Each must prove its deposit to who trusts the
 * key of the log.
 */
export async function checkReceipts(
  deps: Pick<Deps, 'db' | 'companyKeys' | 'logFiles' | 'signals' | 'settings'>,
  query: Query,
  atMost: number | null = null
): Promise<{ faults: string[]; receipts: number }> {
  const deposits = await query<{ company_id: CompanyId; user_id: string; id: string; log: string }>(
    `select d.company_id, d.user_id, d.id, p.leaf::jsonb ->> 'log' as log
       from deposit d join log_leaf l on (l.company_id, l.leaf_id) = (d.company_id, d.id)
       join log_leaf p on (p.company_id, p.log_no, p.idx) = (l.company_id, l.log_no, 0)
      order by md5(d.id) limit $1`,
    [atMost]
  )
  const faults: string[] = []
  for (const { log, ...deposit } of deposits) {
    const policies = [parseLogPolicy(`log ${log}\nquorum none\n`)]
    const judged = await createReceipt(deps, { ...deposit, format: 'json' }, run => run()).then(
      ({ text }) => judge(text, policies),
      String
    )
    if (judged !== 'authentic') faults.push(`the receipt of deposit ${deposit.id}: ${judged}`)
  }
  return { faults, receipts: deposits.length }
}

function judge(text: string, policies: ReturnType<typeof parseLogPolicy>[]): string {
  const { open } = JSON.parse(text)
  const receipt = Buffer.from(text)
  const { outcome } = verify({ receipt, digest: open.orig.value }, { policies }, new Date())
  return 'reason' in outcome ? `${outcome.verdict}, ${outcome.reason}` : outcome.verdict
}
