import { type RawBuilder, sql } from 'kysely'
import type { AuditChange, AuditLogEntry } from '../../../contract/audit.ts'
import { toHex } from '../../../core/bytes.ts'
import type { FieldChanges, FieldValues } from '../../../core/evidence/audit-entry.ts'
import type { Json } from '../../../core/evidence/canonical-json.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import { exportCsv } from '../csv-export.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type Page, type PageInput, readPage } from '../lists.ts'
import { auditEntryCanonicalJson } from './audit-check.ts'

// `locale` is no condition, but the language of the returned names
interface AuditFilter {
  company_id: CompanyId
  locale?: 'en' | 'fr' | undefined
  person?: string | undefined
  actor?: string | undefined
  target?: string | undefined
  action?: string | undefined
  from?: string | undefined
  to?: string | undefined
  // the highest `seq`
  newest?: number | undefined
}

export async function listAuditEntries(
  deps: Pick<Deps, 'db'>,
  { limit, cursor, ...filter }: AuditFilter & PageInput
): Promise<Page<AuditLogEntry>> {
  const { items, names, next } = await inCompany(deps.db, filter.company_id, tx =>
    readEntries(tx, filter, { limit, cursor, sort: '-at' })
  )
  const others = await readOtherCompanies(deps, filter.company_id, items)
  return { items: items.map(row => toEntry(row, names, others)), next }
}

/** Oldest first, without entries that are written after the export has begun. */
export function exportAuditEntries(
  deps: Pick<Deps, 'db'>,
  filter: AuditFilter
): AsyncGenerator<string, void, void> {
  const { company_id } = filter
  const others: OtherCompanies = new Map()
  let newest: number | undefined
  return exportCsv(deps, {
    company_id,
    columns,
    async readPage(tx, page) {
      newest ??= await newestSeq(tx)
      const found = await readEntries(tx, { ...filter, newest }, { ...page, sort: 'at' })
      return { ...found, items: found.items.map(row => ({ row, names: found.names })) }
    },
    async toRows(items) {
      const rows = items.map(({ row }) => row)
      await readOtherCompanies(deps, company_id, rows, others)
      return items.map(({ row, names }) => ({ ...row, entry: toEntry(row, names, others) }))
    }
  })
}

type ExportedRow = Row & { entry: AuditLogEntry }

const columns: Record<string, (row: ExportedRow) => string | number | undefined> = {
  seq: ({ seq }) => seq,
  at: ({ entry }) => entry.at,
  actor_id: ({ actor_id }) => actor_id,
  actor: ({ entry }) => entry.actor.name ?? undefined,
  actor_company: ({ entry }) => entry.actor.company,
  acted_in: ({ entry }) => entry.acted_in,
  action: ({ action }) => action,
  target_id: ({ target_id }) => target_id,
  target: ({ entry }) => entry.target.name ?? undefined,
  changes: ({ value }) => value ?? undefined,
  salt: ({ salt }) => (salt ? toHex(salt) : undefined),
  entry: row => auditEntryCanonicalJson(row),
  hash: ({ hash }) => toHex(hash)
}

type Row = Awaited<ReturnType<typeof readRows>>['items'][number]
// by id
type Names = Map<string, string>

async function readEntries(tx: Tx, filter: AuditFilter, page: PageInput) {
  const { items, next } = await readRows(tx, filter, page)
  return { items, names: await readNames(tx, items, filter.locale ?? 'en'), next }
}

async function readRows(
  tx: Tx,
  { company_id, person, actor, target, action, from, to, newest }: AuditFilter,
  page: PageInput
) {
  const entries = tx.selectFrom('audit_entry as entry').where('entry.company_id', '=', company_id)
  const orders = {
    id: 'entry.id',
    sorts: { at: ['entry.created_at', 'entry.seq'] },
    usual: '-at'
  } as const
  const isTarget = target === undefined ? undefined : await concerns(tx, target)
  const involves = person === undefined ? undefined : await involvesPerson(tx, person)
  return readPage(entries, orders, page, rows =>
    rows
      .$if(involves !== undefined, each => each.where(involves ?? sql<boolean>`false`))
      .$if(actor !== undefined, each => each.where('entry.actor_id', '=', actor ?? ''))
      .$if(isTarget !== undefined, each => each.where(isTarget ?? sql<boolean>`false`))
      .$if(action !== undefined, each => each.where('entry.action', '=', action ?? ''))
      .$if(from !== undefined, each => each.where('entry.created_at', '>=', new Date(from ?? '')))
      .$if(to !== undefined, each => each.where('entry.created_at', '<', new Date(to ?? '')))
      .$if(newest !== undefined, each => each.where('entry.seq', '<=', newest ?? 0))
      .selectAll('entry')
      .select(({ selectFrom }) => {
        const values = selectFrom('audit_value')
          .whereRef('audit_value.company_id', '=', 'entry.company_id')
          .whereRef('audit_value.seq', '=', 'entry.seq')
        return [values.select('changes').as('value'), values.select('salt').as('salt')]
      })
  )
}

// entries about a person are also those of imports that have created or changed the person
async function concerns(tx: Tx, target: string): Promise<RawBuilder<boolean>> {
  const { rows: imports } = await sql<{ id: string }>`
    select imported_by as id from "user"
     where company_id = ${tx.companyId} and id = ${target} and imported_by is not null
    union
    select import_id from import_row
     where company_id = ${tx.companyId} and user_id = ${target}
       and verdict in ('new', 'changed')`.execute(tx)
  const own = sql<boolean>`entry.target_id = ${target}`
  if (imports.length === 0) return own
  return sql<boolean>`(${own} or entry.target_id = any (${imports.map(({ id }) => id)}::uuid[])
    and entry.action in ('import.run', 'import.undo'))`
}

// also entries about the person's API keys and memberships
async function involvesPerson(tx: Tx, person: string): Promise<RawBuilder<boolean>> {
  const isTarget = await concerns(tx, person)
  // the expression of the index audit_value_member
  return sql<boolean>`(entry.actor_id = ${person} or ${isTarget} or entry.seq = any (array(
    select seq from audit_value where company_id = ${tx.companyId} and person_id = ${person}
    union
    select seq from audit_value
     where company_id = ${tx.companyId} and changes like '%"user_id":"%'
       and substring(changes from '"user_id":"([0-9a-f-]{36})"') = ${person}::text)))`
}

async function newestSeq(tx: Tx): Promise<number> {
  const head = await selectInCompany(tx, 'audit_head').select('seq').executeTakeFirst()
  return head?.seq ?? 0
}

function toEntry(row: Row, names: Names, others: OtherCompanies): AuditLogEntry {
  const { company_id, actor_id, actor_company_id, acted_in, action, target_id, changes } = row
  const kind = kindOf(action)
  const fields = row.value === null ? undefined : changedFields(row.value)
  const actorsCompany = others.get(actor_company_id)
  return {
    id: row.id,
    seq: row.seq,
    at: row.created_at.toISOString(),
    actor: {
      id: actor_id,
      name: (actorsCompany?.people ?? names).get(actor_id) ?? null,
      ...(actorsCompany ? { company: actorsCompany.name } : {})
    },
    ...(acted_in === company_id ? {} : { acted_in: others.get(acted_in)?.name ?? '' }),
    action,
    target: { id: target_id, kind, name: names.get(target_id) ?? nameIn(fields) ?? null },
    changes: fields ?? null,
    names: mentionsOf(fields ?? []).flatMap(({ id }) => {
      const name = names.get(id)
      return name === undefined ? [] : { id, name }
    }),
    erased: changes !== null && row.value === null
  }
}

// `'group.update'` → `'group'`
function kindOf(action: string): string {
  return action.split('.')[0] ?? ''
}

function changedFields(text: string): AuditChange[] {
  // as: the database stores what canonicalizeFieldChanges() has written
  const { before, after } = JSON.parse(text) as FieldChanges
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const valueIn = (values: FieldValues, field: string): Json | null => values[field] ?? null
  return fields.map(field => ({
    field,
    before: valueIn(before, field),
    after: valueIn(after, field)
  }))
}

// for an item that no longer exists
function nameIn(fields: readonly AuditChange[] | undefined): string | undefined {
  const named = fields?.find(({ field }) => field === 'name' || field === 'username')
  const name = named?.after ?? named?.before
  return typeof name === 'string' ? name : undefined
}

interface Mention {
  kind: string
  id: string
}

// fields with ids have names such as `user_id` and `group_ids`
function mentionsOf(fields: readonly AuditChange[]): Mention[] {
  return fields.flatMap(({ field, before, after }) => {
    const [, kind] = /^(\w+?)_ids?$/.exec(field) ?? []
    const ids = [before, after].flat().filter(each => typeof each === 'string')
    return kind === undefined ? [] : ids.map(id => ({ kind, id }))
  })
}

async function readNames(tx: Tx, rows: readonly Row[], locale: 'en' | 'fr'): Promise<Names> {
  const isHere = ({ acted_in }: Row) => acted_in === tx.companyId
  const mentions = [
    ...rows.map(({ actor_id: id }) => ({ kind: 'user', id })),
    ...rows.filter(isHere).map(({ action, target_id: id }) => ({ kind: kindOf(action), id })),
    ...rows.flatMap(({ value }) => (value === null ? [] : mentionsOf(changedFields(value))))
  ]
  const names: Names = new Map()
  for (const [kind, each] of Map.groupBy(mentions, mention => mention.kind)) {
    const ids = [...new Set(each.map(({ id }) => id))].filter(id => uuid.test(id))
    for (const [id, name] of await readNamesOfKind(tx, kind, ids, locale)) names.set(id, name)
  }
  return names
}

const uuid = /^[0-9a-f-]{36}$/

const nameSql: Record<string, (locale: 'en' | 'fr') => RawBuilder<string | null>> = {
  user: () => sql`case when deleted_at is null then username end`,
  group: () => sql`name`,
  category: locale => sql`names ->> ${locale}`,
  domain: () => sql`host`,
  company: () => sql`name`
}

async function readNamesOfKind(
  tx: Tx,
  kind: string,
  ids: string[],
  locale: 'en' | 'fr'
): Promise<Names> {
  const name = nameSql[kind]?.(locale)
  if (!name || ids.length === 0) return new Map()
  const company = sql.ref(kind === 'company' ? 'id' : 'company_id')
  const { rows } = await sql<{ id: string; name: string | null }>`
    select id, ${name} as name from ${sql.table(kind)}
     where ${company} = ${tx.companyId} and id = any (${ids}::uuid[])`.execute(tx)
  return new Map(rows.flatMap(row => (row.name === null ? [] : [[row.id, row.name] as const])))
}

// by id
type OtherCompanies = Map<string, { name: string; people: Names }>

async function readOtherCompanies(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId,
  rows: readonly Row[],
  others: OtherCompanies = new Map()
): Promise<OtherCompanies> {
  const found = rows.flatMap(row => [
    { company: row.acted_in, people: [] },
    { company: row.actor_company_id, people: [row.actor_id] }
  ])
  for (const [id, each] of Map.groupBy(found, ({ company }) => company)) {
    if (id === company_id) continue
    const people = [...new Set(each.flatMap(one => one.people))]
    const known = others.get(id)
    if (known && people.every(person => known.people.has(person))) continue
    others.set(id, await readOtherCompany(deps, toCompanyId(id), people))
  }
  return others
}

async function readOtherCompany(deps: Pick<Deps, 'db'>, id: CompanyId, people: string[]) {
  return inCompany(deps.db, id, async tx => {
    const company = await readNamesOfKind(tx, 'company', [id], 'en')
    return { name: company.get(id) ?? '', people: await readNamesOfKind(tx, 'user', people, 'en') }
  })
}
