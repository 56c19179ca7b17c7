import { parseCheckpoint } from '../../../src/core/evidence/checkpoints.ts'
import { cutEntries, parseEntries } from '../../../src/core/evidence/tiles.ts'
import type { CompanyId, Deps, LogFiles } from '../../../src/server/domain/deps.ts'
import { publishLog } from '../../../src/server/domain/evidence/log-publishing.ts'
import { logIdOf } from '../../../src/server/domain/evidence/logs.ts'
import type { TestApp } from '../app.ts'
import { rootOf, sha256 } from './evidence-log.ts'

/** Publishes until nothing is left, as the job does. */
export async function publishAll(deps: Deps, company: CompanyId): Promise<void> {
  while (await publishLog(deps, company));
}

/** Appends leaves to the log of a company without a deposit. */
export async function appendLeaves(
  owner: TestApp['owner'],
  company: CompanyId,
  count: number
): Promise<void> {
  await owner.query(
    `with head as (
       update log_head set leaf_seq = leaf_seq + $2 where company_id = $1 returning leaf_seq, log_no
     ), leaf as (
       select head.*, n, '{"n":"' || gen_random_uuid() || '"}' as leaf from head, generate_series(1, $2::int) n
     )
     insert into log_leaf (company_id, log_no, idx, leaf_id, leaf, hash)
     select $1, log_no, leaf_seq - $2 + n, left(md5(leaf), 22), leaf, sha256('\\x00'::bytea || leaf::bytea) from leaf`,
    [company, count]
  )
}

/** What a reader finds who has the files alone. */
export async function readPublished(files: LogFiles, origin: string) {
  const id = logIdOf(origin)
  const note = await files.readCheckpoint(id)
  if (note === undefined) throw new Error(`nothing of ${origin} is published`)
  const checkpoint = parseCheckpoint(note)
  const leaves: string[] = []
  for (let bundle = 0; leaves.length < Number(checkpoint.size); bundle++) {
    const count = Math.min(256, Number(checkpoint.size) - leaves.length)
    const entries = await files.readEntries(id, bundle)
    if (!entries) throw new Error(`entries ${bundle} are missing`)
    leaves.push(...parseEntries(cutEntries(entries, count)))
  }
  return { note, checkpoint, leaves }
}

export function rootOfLeaves(leaves: readonly string[]): Buffer {
  return rootOf(leaves.map(leaf => sha256('\0', leaf)))
}
