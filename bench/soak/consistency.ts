import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { leafHash } from '../../src/core/evidence/deposit-leaf.ts'
import { socketConnectionConfig } from '../../src/server/db/postgres.ts'
import { demoHistory } from '../../src/server/domain/demo/demo-documents.ts'
import { demoAccount } from '../../src/server/domain/demo-account.ts'
import { sha256Of } from '../../tests/helpers/e2e/documents.ts'
import type { ServiceProcess } from '../../tests/helpers/service.ts'
import type { RememberedDocument } from './depositors.ts'

interface ConsistencyReport {
  figures: Record<string, number>
  faults: string[]
}

// rules that the database must satisfy while no job is running: the sentence that reports a
// violation, and the statement that finds the rows
const invariants: Record<string, string> = {
  'the demonstration is half made': `
    select id, demo from company where demo = 'seeding'`,
  'an acknowledged upload is not settled': `
    select id from upload where state = 'received'`,
  'a request is neither at its end nor waiting for bytes': `
    select id, state from request where kind = 'deposit' and state in ('queued', 'processing')`,
  'a done request has not exactly one deposit': `
    select r.id from request r left join deposit d on (d.company_id, d.request_id) = (r.company_id, r.id)
     where r.kind = 'deposit' group by r.company_id, r.id, r.state
    having count(d.id) <> case when r.state = 'done' then 1 else 0 end`,
  'an upload and its request disagree': `
    select u.id from upload u join request r on (r.company_id, r.id) = (u.company_id, u.request_id)
     where (u.state = 'uploading') <> (r.state = 'uploading')`,
  'a deposit lacks its openings, its leaf or its tags': `
    select d.id from deposit d
     where not exists (select from deposit_opening o where (o.company_id, o.record_id) = (d.company_id, d.id))
        or not exists (select from log_leaf l where (l.company_id, l.leaf_id) = (d.company_id, d.id))
        or not exists (select from lookup_tag t where (t.company_id, t.record_ref) = (d.company_id, d.id))`,
  'a leaf has no deposit': `
    select l.leaf_id from log_leaf l
     where not exists (select from deposit d where (d.company_id, d.id) = (l.company_id, l.leaf_id))
       and l.leaf not like '%"type":"policy"%'`,
  'a stored file is not counted right': `
    select b.company_id, b.refs, count(d.id) from blob b
      left join deposit d on (d.company_id, d.blob_tag) = (b.company_id, b.tag)
     group by b.company_id, b.tag, b.refs having b.refs <> count(d.id)`,
  'used is not the sum of deposits and checks': `
    with acts as (
      select u.company_id, kind, sum(case kind when 'requests' then 1 else u.size end) as amount
        from upload u join deposit d on (d.company_id, d.request_id) = (u.company_id, u.request_id)
       cross join (values ('requests'), ('storage')) kinds (kind) group by 1, 2
       union all
      -- a check says how many fingerprints it asked for, and not in whose period
      select company_id, 'requests', sum((facts -> 'items' ->> 'asked')::int) from request
       where kind = 'verify' group by 1
    ), charged as (select company_id, kind, sum(amount) as amount from acts group by 1, 2),
    counted as (select company_id, kind, sum(used) as used from usage group by 1, 2)
    select company_id, kind, used, amount from counted full join charged using (company_id, kind)
     where coalesce(used, 0) <> coalesce(amount, 0)`,
  'used in a period is less than its deposits': `
    with charged as (
      select u.company_id, u.group_id, kind, case kind when 'requests' then u.period_start else 'epoch' end as period_start,
             sum(case kind when 'requests' then 1 else u.size end) as amount
        from upload u join deposit d on (d.company_id, d.request_id) = (u.company_id, u.request_id)
       cross join (values ('requests'), ('storage')) kinds (kind) group by 1, 2, 3, 4
    ) select company_id, kind, used, amount from charged left join usage using (company_id, group_id, kind, period_start)
       where coalesce(used, 0) < amount`,
  'reserved is not the sum of live uploads': `
    with held as (
      select u.company_id, u.group_id, kind, case kind when 'requests' then u.period_start else 'epoch' end as period_start,
             sum(case kind when 'requests' then 1 else u.size - u.released end) as amount
        from upload u cross join (values ('requests'), ('storage')) kinds (kind)
       where u.state <> 'settled' group by 1, 2, 3, 4
    ) select company_id, kind, reserved, amount from usage full join held using (company_id, group_id, kind, period_start)
       where coalesce(reserved, 0) <> coalesce(amount, 0)`,
  'what people used does not add up to what their groups used': `
    with own as (
      select company_id, group_id, kind, period_start, sum(used) as amount from user_usage group by 1, 2, 3, 4
    ) select company_id, kind, used, amount from usage full join own using (company_id, group_id, kind, period_start)
       where coalesce(used, 0) <> coalesce(amount, 0)`,
  // the demonstration's events carry old dates, so the oldest of them are already deleted
  'the events of a company have a gap': `
    select h.company_id, h.event_seq, count(e.seq) from log_head h
      join company c on c.id = h.company_id left join event e on e.company_id = h.company_id
     group by h.company_id, h.event_seq, c.demo
    having (count(e.seq) <> h.event_seq or coalesce(min(e.seq), 1) <> 1) and c.demo is null
        or coalesce(max(e.seq), 0) <> h.event_seq`,
  'a request and its last event disagree': `
    select r.id from request r left join lateral (
      select seq, payload from event e where e.company_id = r.company_id and e.request_id = r.id
       order by seq desc limit 1) last on true
     where (last.seq is distinct from r.seq or last.payload ->> 'state' is distinct from r.state)
       and r.created_at > now() - interval '89 days'`,
  'the indexes of a log have a gap': `
    select company_id, log_no, count(*), max(idx) from log_leaf group by 1, 2
    having min(idx) <> 0 or max(idx) <> count(*) - 1`,
  'a head is not at the last leaf': `
    select h.company_id, h.leaf_seq from log_head h where h.leaf_seq <> (
      select max(idx) from log_leaf l where (l.company_id, l.log_no) = (h.company_id, h.log_no))`,
  'a log is not signed up to its last leaf': `
    select company_id, log_no, state, published_size, leaf_seq
      from log_head full join log_state using (company_id, log_no)
     where state is distinct from 'running' or published_size is distinct from leaf_seq + 1`,
  'a checkpoint does not fit its log': `
    select c.company_id, c.size from log_checkpoint c left join log_state l using (company_id, log_no)
     where l.published_size is null or c.size > l.published_size
        or c.note not like l.origin || E'\\n' || c.size || E'\\n' || encode(c.root, 'base64') || E'\\n\\n%'`
}

/**
 * Compares the documents with those that the depositors remember, and the tables with the stored
 * files.
 */
export async function checkConsistency(
  service: ServiceProcess,
  remembered: RememberedDocument[]
): Promise<ConsistencyReport> {
  const pool = new pg.Pool(socketConnectionConfig(await service.socketDir(), 'vidimus', 'postgres'))
  try {
    await waitForQuiet(pool)
    const faults: string[] = []
    for (const [name, text] of Object.entries(invariants)) {
      const { rows } = await pool.query(text)
      if (rows.length > 0) faults.push(`${name}: ${rows.length} ×, such as ${show(rows[0])}`)
    }
    faults.push(...(await compareWithMemory(pool, remembered)))
    const files = await compareFiles(pool, service.documents)
    faults.push(...files.faults, ...(await compareLeaves(pool)))
    faults.push(...(await compareDemo(pool)))
    const counts = await pool.query(
      `with person as (select company_id, id as user_id from "user" where email <> $1)
      select (select count(*)::int from deposit natural join person) as deposits,
      (select count(*)::int from log_leaf l join deposit d on (d.company_id, d.id) = (l.company_id, l.leaf_id)
         join person p on (p.company_id, p.user_id) = (d.company_id, d.user_id)) as leaves,
      (select count(*)::int from blob) as blobs,
      (select count(*)::int from event) as events, (select count(*)::int from request) as requests,
      (select count(*)::int from upload where attempts > 1) as settled_again`,
      [demoAccount.email]
    )
    return { figures: { ...counts.rows[0], ...files.figures }, faults }
  } finally {
    await pool.end()
  }
}

// at most 90 seconds
async function waitForQuiet(pool: pg.Pool): Promise<void> {
  for (const until = Date.now() + 90_000; Date.now() < until; await sleep(50)) {
    const { rows } = await pool.query(
      `select from upload where state = 'received' union all
       select from company where demo = 'seeding' union all
       select from log_head h join log_state l using (company_id, log_no)
        where l.state = 'running' and l.published_size <= h.leaf_seq limit 1`
    )
    if (rows.length === 0) return
  }
}

async function compareWithMemory(
  pool: pg.Pool,
  remembered: RememberedDocument[]
): Promise<string[]> {
  const faults: string[] = []
  const { rows } = await pool.query<{ id: string; state: string; upload: string; size: string }>(
    `select r.id, r.state, u.id as upload, u.size
       from request r join upload u on (u.company_id, u.request_id) = (r.company_id, r.id)
       join "user" p on (p.company_id, p.id) = (r.company_id, r.user_id) where p.email <> $1`,
    [demoAccount.email]
  )
  const byRequest = new Map(rows.map(row => [row.id, row]))
  const expected = {
    acknowledged: 'done',
    abandoned: 'uploading',
    cancelled: 'cancelled',
    failed: 'failed'
  }
  for (const { request, upload, size, end } of remembered) {
    const row = byRequest.get(request)
    if (!row) faults.push(`request ${request} (${end}) is lost`)
    else if (row.state !== expected[end]) faults.push(`${end} request ${request} is ${row.state}`)
    else if (row.upload !== (upload ?? row.upload) || Number(row.size) !== size) {
      faults.push(`request ${request} has another upload or size`)
    }
  }
  if (rows.length !== remembered.length) {
    faults.push(`${rows.length} requests were made for ${remembered.length} acts of people`)
  }
  return faults
}

// finds a document that is missing, in the wrong order or recorded at the wrong time
async function compareDemo(pool: pg.Pool): Promise<string[]> {
  const { rows: demos } = await pool.query('select from company where demo is not null')
  if (demos.length === 0) return []
  const { rows } = await pool.query<{ kind: string; name: string; state: string; late: boolean }>(
    `select r.kind, r.facts ->> 'name' as name, r.state,
            abs(extract(epoch from d.recorded_at - r.created_at)) > 60 as late
       from request r join "user" p on (p.company_id, p.id) = (r.company_id, r.user_id)
       left join deposit d on (d.company_id, d.request_id) = (r.company_id, r.id)
      where p.email = $1 order by r.created_at`,
    [demoAccount.email]
  )
  const made = rows.map(
    ({ kind, name, state }) => `${kind} ${kind === 'deposit' ? name : ''} ${state}`
  )
  const wanted = demoHistory().map(act =>
    act.kind === 'deposit' ? `deposit ${act.name.normalize('NFC')} ${act.outcome}` : 'verify  done'
  )
  const faults = wanted
    .filter((act, at) => made[at] !== act)
    .map(act => `the demonstration lacks “${act}” or has it elsewhere`)
  if (made.length > wanted.length) faults.push('the demonstration has more than its acts')
  const late = rows.filter(row => row.late)
  if (late.length > 0)
    faults.push(`${late.length} documents of the demonstration are recorded late`)
  return faults
}

async function compareFiles(pool: pg.Pool, documents: string) {
  const faults: string[] = []
  const { rows } = await pool.query<{ path: string; size: string }>(`
    select company_id || '/' || left(encode(tag, 'hex'), 2) || '/' || encode(tag, 'hex') as path, size
      from blob where refs > 0`)
  const kept = new Map(rows.map(row => [row.path, Number(row.size)]))
  const onDisk = await filesBelow(join(documents, 'blobs'))
  let bytes = 0
  for (const path of onDisk) {
    if (!kept.has(path)) faults.push(`file ${path} has no row`)
  }
  for (const [path, size] of kept) {
    const found = await stat(join(documents, 'blobs', path)).catch(() => undefined)
    if (found?.size !== size) faults.push(`row ${path} has a file of ${found?.size} bytes`)
    bytes += size
  }

  const uploads = await pool.query<{
    path: string
    generation: number
    state: string
    ended: string
  }>(`
    select u.company_id || '/' || u.id as path, u.generation, u.state, r.state as ended
      from upload u join request r on (r.company_id, r.id) = (u.company_id, u.request_id)`)
  const byPath = new Map(uploads.rows.map(row => [row.path, row]))
  let orphans = 0
  for (const path of await filesBelow(join(documents, 'staging'))) {
    // after a take-over, the file name ends with the generation
    const [base = '', generation = '0'] = path.split('.')
    const upload = byPath.get(base)
    if (upload?.state === 'uploading') continue
    // the process was killed after it had copied a file for a take-over and before it deleted the
    // old one
    if (upload && Number(generation) < upload.generation) orphans++
    // or after the commit that ended the upload and before it deleted the file
    else if (['cancelled', 'failed', 'lapsed'].includes(upload?.ended ?? '')) orphans++
    else faults.push(`staged file ${path} belongs to a request that is ${upload?.ended}`)
  }
  return { faults, figures: { files: onDisk.length, stored_bytes: bytes, orphans } }
}

async function compareLeaves(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ leaf: string; hash: Buffer }>(
    'select leaf, hash from log_leaf'
  )
  const wrong = rows.filter(({ leaf, hash }) => !hash.equals(leafHash(leaf)))
  return wrong.length > 0 ? [`${wrong.length} leaves do not have the hash beside them`] : []
}

/** A sentence for each acknowledged document with wrong bytes. */
export async function checkStoredBytes(
  service: ServiceProcess,
  remembered: RememberedDocument[]
): Promise<string[]> {
  const rows = await service.query<{ request: string; path: string }>(`
    select d.request_id as request,
           company_id || '/' || left(encode(blob_tag, 'hex'), 2) || '/' || encode(blob_tag, 'hex') as path
      from deposit d`)
  const pathOf = new Map(rows.map(row => [row.request, row.path]))
  const digests = new Map<string, string>()
  const faults: string[] = []
  for (const { request, sha256, end } of remembered) {
    if (end !== 'acknowledged') continue
    const path = pathOf.get(request)
    if (path === undefined) continue // checkConsistency() reports it
    const digest =
      digests.get(path) ?? (await sha256Of(join(service.documents, 'blobs', path)).catch(String))
    digests.set(path, digest)
    if (digest !== sha256) faults.push(`the bytes of request ${request} are ${digest}`)
  }
  return faults
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
}

function show(row: object): string {
  return JSON.stringify(row)
}
