import type { RegisterImport } from '../../../contract/register-imports.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { AdminCall } from '../audit/audit-entries.ts'
import type { Deps } from '../deps.ts'
import { releaseIdempotencyKeys, runOnce } from '../idempotency/idempotency.ts'
import { insertImport } from './register-imports.ts'

const route = 'PUT /data_source/import'

/** The body of one call, with the columns and the dialect of the last import that ran. */
export interface BodyToImport extends AdminCall {
  /** Of the register. */
  id: string
  mode: RegisterImport['mode']
  bytes: number
  run: { skip_refused: boolean } | undefined
  actor: string
  key: string
}

/** Called before the body is read. */
export async function beginBodyImport(
  deps: Pick<Deps, 'db' | 'keys' | 'companyKeys' | 'clock' | 'random' | 'signals'>,
  { actor, key, ...body }: BodyToImport
): Promise<{ id: string; upload_id: string; replayed: boolean }> {
  const { id, mode, bytes, run } = body
  const input = { id, mode, bytes, run: run ?? null }
  return inCompany(deps.db, body.company_id, async tx => {
    const made = await runOnce(tx, deps, { actor, route, key, input }, () =>
      insertImport(tx, deps, { ...body, file: { bytes } })
    )
    return { ...made.body, replayed: made.replayed }
  })
}

/** So that the call can be repeated, after its body broke off. */
export async function forgetBodyImport(
  tx: Tx,
  { actor, key }: Pick<BodyToImport, 'actor' | 'key'>,
  made: { id: string; upload_id: string }
): Promise<void> {
  const { id, upload_id } = made
  await releaseIdempotencyKeys(tx, { actor, route }, [key], { id, upload_id })
}
