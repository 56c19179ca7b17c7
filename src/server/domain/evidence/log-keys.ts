import { sql } from 'kysely'
import { type Bytes, toBase64Url } from '../../../core/bytes.ts'
import { parseCheckpoint } from '../../../core/evidence/checkpoints.ts'
import { buildPolicyLeaf, publicKeyOf, verifierKeyOf } from '../../../core/evidence/log-signing.ts'
import { findSigners, parseVerifierKey } from '../../../core/evidence/signed-notes.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, inNoCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { createCompanyKeys, openCompanyKeys } from './company-keys.ts'

/** Signs the checkpoints of one log. */
export interface LogKey {
  /** The origin of the log. */
  name: string
  seed: Uint8Array
}

/** The last checkpoint of a retired log, which its successor names. */
export interface PreviousLog {
  origin: string
  root: Bytes
  size: number
}

const platformKeyVersion = 1

/** The log's own key. Throws if it has none, because it has not begun. */
export async function openLogKey(
  tx: Tx,
  deps: Pick<Deps, 'keys'>,
  { origin, key_version }: { origin: string; key_version: number }
): Promise<LogKey> {
  const { log } = await openCompanyKeys(tx, deps.keys, key_version)
  if (!log) throw new Error(`log ${origin} has no key`)
  return { name: origin, seed: log }
}

/** Whether the note is a checkpoint of this log that its key has signed. */
export function isSignedBy({ name, seed }: LogKey, note: string): boolean {
  try {
    const checkpoint = parseCheckpoint(note)
    const key = parseVerifierKey(verifierKeyOf(name, publicKeyOf(seed)))
    return checkpoint.origin === name && findSigners(checkpoint.note, [key]).length === 1
  } catch {
    return false
  }
}

/**
 * Makes the keys of a log and its policy, the leaf at index 0. To be committed before anything is
 * signed, so that no signature outlives the key that made it.
 */
export async function beginLog(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'random' | 'clock'>,
  log: { log_no: number; origin: string; key_version: number; previous?: PreviousLog | undefined },
  platform: string
): Promise<void> {
  await createCompanyKeys(tx, deps, ['log', 'answers'], log.key_version)
  const seeds = await openCompanyKeys(tx, deps.keys, log.key_version)
  if (!seeds.log || !seeds.answers) throw new Error(`log ${log.origin} has no keys`)
  const { leaf, hash, id } = policyOf(deps, log, {
    log: verifierKeyOf(log.origin, publicKeyOf(seeds.log)),
    answers: verifierKeyOf(`${log.origin}/answers`, publicKeyOf(seeds.answers)),
    platform
  })
  await tx
    .insertInto('log_leaf')
    .values({
      company_id: tx.companyId,
      log_no: log.log_no,
      idx: 0,
      leaf_id: id,
      leaf,
      hash: Buffer.from(hash)
    })
    .execute()
}

export async function hasPolicy(tx: Tx, log_no: number): Promise<boolean> {
  const found = await selectInCompany(tx, 'log_leaf')
    .where('log_no', '=', log_no)
    .where('idx', '=', 0)
    .select('idx')
    .executeTakeFirst()
  return found !== undefined
}

/**
 * The verifier key of the log that will hold the checkpoints of all companies. Its name is fixed when
 * it is first asked for.
 */
export async function readPlatformKey(
  deps: Pick<Deps, 'db' | 'keys' | 'random' | 'clock' | 'settings'>
): Promise<string> {
  const { origin, sealed } = (await findPlatformKey(deps)) ?? (await createPlatformKey(deps))
  return verifierKeyOf(origin, publicKeyOf(deps.keys.open(sealed, platformAad)))
}

const platformAad = `vidimus/platform-key/v1|log|${platformKeyVersion}`

function findPlatformKey(deps: Pick<Deps, 'db'>) {
  return inNoCompany(deps.db, tx =>
    tx
      .selectFrom('platform_key')
      .where('version', '=', platformKeyVersion)
      .select(['origin', 'sealed'])
      .executeTakeFirst()
  )
}

async function createPlatformKey(
  deps: Pick<Deps, 'db' | 'keys' | 'random' | 'clock' | 'settings'>
) {
  const origin = deps.settings.platformOrigin ?? `${await firstAddress(deps)}/platform-log`
  await inNoCompany(deps.db, tx =>
    tx
      .insertInto('platform_key')
      .values({
        version: platformKeyVersion,
        origin,
        sealed: deps.keys.seal(deps.random(32), platformAad),
        kek_id: deps.keys.rootSecretId,
        created_at: deps.clock()
      })
      // another process may have been first
      .onConflict(key => key.doNothing())
      .execute()
  )
  const created = await findPlatformKey(deps)
  if (!created) throw new Error('the platform log has no key')
  return created
}

// that of the installation's own company, as the name of its log has it
async function firstAddress(deps: Pick<Deps, 'db'>): Promise<string | undefined> {
  const { rows } = await inNoCompany(deps.db, tx =>
    sql<{ id: string }>`select list_companies() as id limit 1`.execute(tx)
  )
  const company = toCompanyId(rows[0]?.id ?? '')
  const head = await inCompany(deps.db, company, tx =>
    selectInCompany(tx, 'log_head').select('origin').executeTakeFirstOrThrow()
  )
  return head.origin.split('/')[0]
}

function policyOf(
  deps: Pick<Deps, 'random'>,
  { origin, previous }: { origin: string; previous?: PreviousLog | undefined },
  keys: { log: string; answers: string; platform: string }
) {
  const id = toBase64Url(deps.random(16))
  return { id, ...buildPolicyLeaf({ id, origin, ...keys, ...(previous && { previous }) }) }
}
