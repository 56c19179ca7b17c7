import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { selectById, selectInCompany, updateById } from '../../db/company-queries.ts'
import { inCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import type { CompanyId, CompanySecretKeys, Deps } from '../deps.ts'
import {
  type AttemptDeps,
  attemptNext,
  changeLeased,
  Failure,
  type ImportInProgress,
  keepLease,
  Stopped
} from './register-attempts.ts'
import { countFaults, eraseFaultsOf, eraseUnneededFaults, insertFaults } from './register-faults.ts'
import type { FileBatch, FileEnd, RegisterFile, RowFault } from './register-file.ts'
import { readInThread } from './register-reader.ts'
import { cellNamesOf, openRow } from './register-rows.ts'
import { sealFaultCells } from './register-seals.ts'
import { settleUpload } from './register-uploads.ts'
import {
  countRegisterRows,
  endVersions,
  eraseUnneededRows,
  runImport
} from './register-versions.ts'

type WorkDeps = AttemptDeps & Pick<Deps, 'companyKeys' | 'random' | 'signals' | 'settings'>

// also of a short list: right after loading, a statement for thousands of rows has a bad plan
const slices = 64

/**
 * Erases some rows that nothing needs, or reads and compares the file that has waited longest, one of
 * a company at a time. Returns false if there was neither. After a crash the rows that were read
 * are erased, and another process reads the file from its start.
 */
export async function workOnRegisters(
  deps: WorkDeps,
  company: CompanyId,
  stopping: () => boolean
): Promise<boolean> {
  // first, because a program may keep one import after the other waiting
  if (await eraseUnneededRows(deps, company)) return true
  if (await eraseUnneededFaults(deps, company)) return true
  const isDone = await attemptNext(deps, company, 'read', work =>
    readAndCheck(deps, work, stopping)
  )
  return isDone ?? false
}

async function readAndCheck(
  deps: WorkDeps,
  work: ImportInProgress,
  stopping: () => boolean
): Promise<void> {
  const company = toCompanyId(work.company_id)
  const file = await beginSegment(deps, work)
  const leaves = createLeaves()
  const end = await readFile(deps, { work, file, leaves, stopping })
  if (end.failure) throw new Failure(end.failure.code, end.failure.row)
  const segment = file.place.segment
  const compared = await compare(deps, { work, file, leaves, stopping })
  const root = await leaves.root()
  const staged = await inCompany(deps.db, company, async tx => {
    // a run locks it before its import
    if (work.run_when_checked) {
      await selectById(tx, 'data_source', work.source_id).select('id').forUpdate().execute()
    }
    const rows = leaves.size()
    await sql`
      update register_segment set rows = ${rows}, root = ${root}
       where company_id = ${company} and source_id = ${work.source_id} and number = ${segment}`.execute(
      tx
    )
    const refused = await countFaults(tx, work.id)
    await changeLeased(tx, work, {
      state: 'checked',
      step: null,
      checked_number: compared.number,
      counts: JSON.stringify({ ...compared.counts, refused }),
      warnings: end.warnings,
      leased_until: null
    })
    // in one transaction, so that no crash leaves it checked
    if (work.run_when_checked) await runAtOnce(tx, deps, work)
    return settleUpload(tx, work.upload_id)
  })
  if (staged) await deps.blobs.discardStaged(staged)
}

// the call that brought the file wanted it to run, unless rows are refused
async function runAtOnce(tx: Tx, deps: WorkDeps, work: ImportInProgress): Promise<void> {
  const { id, skip_refused, actor_id, actor_company, created_by, company_id } = work
  const by = {
    id: actor_id ?? created_by,
    company_id: toCompanyId(actor_company ?? company_id)
  }
  try {
    await runImport(tx, deps, { id, by, skip_refused })
  } catch (error) {
    // thrown before anything is written; the import stays checked, and people decide
    if (!(error instanceof AppError)) throw error
  }
}

async function beginSegment(deps: WorkDeps, work: ImportInProgress): Promise<RegisterFile> {
  const company = toCompanyId(work.company_id)
  await eraseFaultsOf(deps, work)
  return inCompany(deps.db, company, async tx => {
    const keys = await deps.companyKeys.read(tx)
    const source = await updateById(tx, 'data_source', work.source_id)
      .set({ last_segment: sql`last_segment + 1` })
      .returning(['last_segment', 'register_id'])
      .executeTakeFirst()
    if (!source) throw new Stopped()
    const { last_segment: segment, register_id } = source
    await tx
      .insertInto('register_segment')
      .values({
        company_id: company,
        source_id: work.source_id,
        number: segment,
        rows: 0,
        root: Buffer.alloc(0)
      })
      .execute()
    await changeLeased(tx, work, { segment, step: 'reading', rows: 0, progress: 0 })
    const place = { company_id: company, source_id: work.source_id, register_id, segment }
    return { import_id: work.id, place, dialect: work.dialect, columns: work.columns, keys }
  })
}

interface Reading {
  work: ImportInProgress
  file: RegisterFile
  leaves: Leaves
  stopping: () => boolean
}

async function readFile(deps: WorkDeps, reading: Reading): Promise<FileEnd> {
  const { work, file, leaves, stopping } = reading
  const company = toCompanyId(work.company_id)
  let room = 0
  const path = await stagedFile(deps, work)
  const batches = readInThread(path, file)
  try {
    for (;;) {
      const { done, value } = await batches.next()
      if (done) return value
      if (stopping()) throw new Stopped()
      await inCompany(deps.db, company, async tx => {
        await keepLease(tx, deps, work, { rows: value.rowsRead, progress: value.bytesRead })
        await insertRows(tx, file, value)
        await insertFaults(tx, work.id, value.faults)
      })
      leaves.add(value)
      if (leaves.size() > room) room = await makeRoom(deps, company, leaves.size())
    }
  } finally {
    await batches.return({ warnings: [] })
  }
}

async function stagedFile(deps: WorkDeps, work: ImportInProgress): Promise<string> {
  const company_id = toCompanyId(work.company_id)
  const upload = await inCompany(deps.db, company_id, tx =>
    selectById(tx, 'upload', work.upload_id ?? '')
      .select(['id', 'generation', 'size'])
      .executeTakeFirst()
  )
  if (!upload) throw new Failure('interrupted')
  const staged = { ...upload, company_id }
  // perhaps the disk cannot be reached at the moment
  if ((await deps.blobs.sizeStaged(staged)) !== upload.size)
    throw new Error('the file of a register is not in documents/staging as it arrived')
  return deps.blobs.stagingFile(staged)
}

// Older versions lose their rows early where the company needs the room.
async function makeRoom(deps: WorkDeps, company: CompanyId, rows: number): Promise<number> {
  const limit = deps.settings.bounds.registerRows
  for (;;) {
    const used = await inCompany(deps.db, company, countRegisterRows)
    if (used + rows <= limit) return limit - used
    const ended = await endVersions(deps, company, { before: deps.clock(), limit: 1 })
    if (ended === 0) throw new Failure('too_many_register_rows')
  }
}

async function insertRows(
  tx: Tx,
  { place }: RegisterFile,
  { numbers, tags, contents, hashes, sealed, lengths }: FileBatch
): Promise<void> {
  if (numbers.length === 0) return
  const { company_id, source_id, segment } = place
  // one parameter for each kind of value is much faster than one for each value
  const { numAffectedRows } = await sql`
    insert into register_row (company_id, source_id, segment, number, tag, content, row_hash, sealed)
    select ${company_id}::uuid, ${source_id}::uuid, ${segment}::int, number,
           substring(${asBuffer(tags)}::bytea from (place * 32 - 31)::int for 32),
           substring(${asBuffer(contents)}::bytea from (place * 16 - 15)::int for 16),
           substring(${asBuffer(hashes)}::bytea from (place * 32 - 31)::int for 32),
           substring(${asBuffer(sealed)}::bytea from start for length)
      from unnest(${numbers}::int[], ${startsOf(lengths)}::int[], ${lengths}::int[])
           with ordinality as part (number, start, length, place)
     order by place`.execute(tx)
  if (Number(numAffectedRows) !== numbers.length) throw new Error('rows of a batch are missing')
}

function startsOf(lengths: readonly number[]): number[] {
  let next = 1
  return lengths.map(length => {
    const start = next
    next += length
    return start
  })
}

function asBuffer({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

interface Compared {
  number: number
  counts: { new: number; changed: number; unchanged: number; removed: number }
}

async function compare(deps: WorkDeps, reading: Reading): Promise<Compared> {
  const { work, file, leaves, stopping } = reading
  const company = toCompanyId(work.company_id)
  const current = await inCompany(deps.db, company, async tx => {
    const source = await selectById(tx, 'data_source', work.source_id)
      .select(['number', 'segments'])
      .executeTakeFirst()
    if (!source) throw new Stopped()
    const version = await selectInCompany(tx, 'register_version')
      .where('source_id', '=', work.source_id)
      .where('number', '=', source.number)
      .select('rows')
      .executeTakeFirst()
    return { ...source, rows: version?.rows ?? 0 }
  })
  const counts = { new: 0, changed: 0, unchanged: 0, removed: 0 }
  for (let slice = 0; slice < slices; slice++) {
    if (stopping()) throw new Stopped()
    const tags = tagsOf(slice)
    const { found, known } = await inCompany(deps.db, company, async tx => {
      await keepLease(tx, deps, work, { step: 'comparing', progress: slice })
      await planWithIndexes(tx)
      const found = await countSlice(tx, file, current.segments, tags)
      const isAdded = work.mode === 'append' && found.changed + found.unchanged > 0
      const where = { work, file, segments: current.segments, tags }
      return { found, known: isAdded ? await takeOutKnown(tx, deps, where) : [] }
    })
    counts.new += found.new
    counts.unchanged += found.unchanged
    if (work.mode === 'replace') counts.changed += found.changed
    leaves.drop(known)
    await nextTurn()
  }
  if (work.mode === 'replace') counts.removed = current.rows - counts.changed - counts.unchanged
  return { number: current.number, counts }
}

// Right after loading, the tables have no statistics. Plans without the index take minutes, and nested
// loops compare each row of a slice with each other: 88 s in place of 3 s for 100,000 rows.
async function planWithIndexes(tx: Tx): Promise<void> {
  await sql`
    select set_config('plan_cache_mode', 'force_custom_plan', true), set_config(name, 'off', true)
      from unnest(array['enable_seqscan', 'enable_bitmapscan', 'enable_nestloop']) as name`.execute(
    tx
  )
}

interface TagRange {
  from: Buffer
  to: Buffer
}

function tagsOf(slice: number): TagRange {
  const width = 256 / slices
  const to = (slice + 1) * width
  // nothing is greater than 33 bytes of 0xff, because a tag has 32
  return {
    from: Buffer.from([slice * width]),
    to: to < 256 ? Buffer.from([to]) : Buffer.alloc(33, 0xff)
  }
}

const inSlice = ({ place }: RegisterFile, { from, to }: TagRange) => sql`
  mine.company_id = ${place.company_id}::uuid and mine.source_id = ${place.source_id}::uuid
  and mine.segment = ${place.segment}::int and mine.tag >= ${from}::bytea
  and mine.tag < ${to}::bytea`

const sameTag = ({ place }: RegisterFile, segments: number[], { from, to }: TagRange) => sql`
  theirs.company_id = ${place.company_id}::uuid and theirs.source_id = ${place.source_id}::uuid
  and theirs.segment = any (${segments}::int[]) and theirs.tag >= ${from}::bytea
  and theirs.tag < ${to}::bytea and theirs.tag = mine.tag`

async function countSlice(
  tx: Tx,
  file: RegisterFile,
  segments: number[],
  tags: TagRange
): Promise<{ new: number; changed: number; unchanged: number }> {
  const { rows } = await sql<{ new: number; changed: number; unchanged: number }>`
    select count(*) filter (where theirs.tag is null)::int as new,
           count(*) filter (where theirs.content <> mine.content)::int as changed,
           count(*) filter (where theirs.content = mine.content)::int as unchanged
      from register_row as mine left join register_row as theirs
        on ${sameTag(file, segments, tags)}
     where ${inSlice(file, tags)}`.execute(tx)
  return rows[0] ?? { new: 0, changed: 0, unchanged: 0 }
}

// Rows can only be added: those that the list has are erased, and refused if they differ.
async function takeOutKnown(
  tx: Tx,
  deps: WorkDeps,
  {
    work,
    file,
    segments,
    tags
  }: Pick<Reading, 'work' | 'file'> & { segments: number[]; tags: TagRange }
): Promise<number[]> {
  const { rows } = await sql<{ number: number; tag: Buffer; sealed: Buffer; differs: boolean }>`
    with known as materialized (
      select mine.tag, theirs.content <> mine.content as differs
        from register_row as mine join register_row as theirs
          on ${sameTag(file, segments, tags)}
       where ${inSlice(file, tags)}
    )
    delete from register_row as mine using known
     where ${inSlice(file, tags)} and mine.tag = known.tag
    returning mine.number, mine.tag, mine.sealed, known.differs`.execute(tx)
  const faults = rows
    .filter(({ differs }) => differs)
    .map(row => existingFault(work, file, row, deps.random))
  await insertFaults(tx, work.id, faults)
  return rows.map(({ number }) => number)
}

function existingFault(
  work: ImportInProgress,
  { place, keys }: RegisterFile & { keys: CompanySecretKeys },
  { number: row, tag, sealed }: { number: number; tag: Buffer; sealed: Buffer },
  random: Deps['random']
): RowFault {
  const { cells } = openRow(keys, place, { tag, sealed })
  const names = cellNamesOf(work.columns)
  // check fields that are not shown are kept nowhere
  const shown = work.columns.map(({ index }) => cells[names.get(index) ?? ''] ?? '')
  const fault = { company_id: place.company_id, import_id: work.id, row }
  return { row, reasons: [{ code: 'exists' }], sealed: sealFaultCells(keys, fault, shown, random) }
}

type Leaves = ReturnType<typeof createLeaves>

const hashBytes = 32
const hashedAtOnce = 5_000

/** The leaves of a segment's tree, outside the heap: 36 MB for a million. */
function createLeaves() {
  const batches: { numbers: Int32Array; hashes: Uint8Array }[] = []
  const dropped = new Set<number>()
  let count = 0
  return {
    add({ numbers, hashes }: FileBatch) {
      if (numbers.length === 0) return
      batches.push({ numbers: Int32Array.from(numbers), hashes })
      count += numbers.length
    },
    drop(numbers: readonly number[]) {
      for (const number of numbers) dropped.add(number)
    },
    size: () => count - dropped.size,
    /** As in RFC 6962. Faster than the tree that grows, because this one is known as a whole. */
    async root(): Promise<Buffer> {
      const level = Buffer.alloc((count - dropped.size) * hashBytes)
      let size = 0
      for (const { numbers, hashes } of batches) {
        for (const [at, number] of numbers.entries()) {
          if (dropped.has(number)) continue
          level.set(hashes.subarray(at * hashBytes, (at + 1) * hashBytes), size * hashBytes)
          size += 1
        }
      }
      if (size === 0) return hash('sha256', Buffer.alloc(0), 'buffer')
      const pair = Buffer.alloc(1 + 2 * hashBytes, 1)
      for (; size > 1; size = Math.ceil(size / 2)) {
        for (let at = 0; at < size; at += 2) {
          const from = at * hashBytes
          const isPair = at + 1 < size
          level.copy(pair, 1, from, from + 2 * hashBytes)
          const parent = isPair
            ? hash('sha256', pair, 'buffer')
            : level.subarray(from, from + hashBytes)
          level.set(parent, from / 2)
          if (at % hashedAtOnce === 0) await nextTurn()
        }
      }
      return level.subarray(0, hashBytes)
    }
  }
}
