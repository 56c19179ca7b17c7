import type { LogState } from '../../../src/server/db/schema.ts'
import type { CompanyId } from '../../../src/server/domain/deps.ts'
import type { TestApp } from '../app.ts'

/** Writes rows as if a log had been signed. The checkpoints are none that anybody could verify. */
export async function setLogState(
  { owner }: Pick<TestApp, 'owner'>,
  company: CompanyId,
  { log = 0, state = 'running', checkpoints = [] }: WrittenLog
): Promise<void> {
  await owner.query(
    `insert into log_state (company_id, log_no, origin, key_version, state, published_size)
     values ($1, $2, gen_random_uuid()::text, 1, $3, $4)
     on conflict (company_id, log_no) do update
       set state = excluded.state, published_size = greatest(log_state.published_size, excluded.published_size)`,
    [company, log, state, Math.max(0, ...checkpoints.map(({ size }) => size))]
  )
  for (const { size, at } of checkpoints) {
    await owner.query(
      `insert into log_checkpoint (company_id, log_no, size, root, note, published_at)
       values ($1, $2, $3, sha256('root'), 'note', $4)`,
      [company, log, size, at]
    )
  }
}

interface WrittenLog {
  /** Number of the log. */
  log?: number
  state?: LogState
  checkpoints?: { size: number; at: string }[]
}
