import type * as z from 'zod/mini'
import { AppError } from '../../../contract/kit/errors.ts'
import type { RegisterColumn } from '../../../contract/registers.ts'
import type {
  AskedSource,
  OfferedSource,
  SourceAnswer,
  verify
} from '../../../contract/verifications.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, CompanySecretKeys, Deps, Log } from '../deps.ts'
import { keyedHashOf } from '../evidence/keyed-hashes.ts'
import { cellNamesOf, openRow, type RowCells, tagOfReference } from './register-rows.ts'

export type VerifiedItem = z.output<typeof verify.input>['items'][number]
type ReferenceItem = Exclude<VerifiedItem, { sha256: string }>

/** `user_id` is null for people who are not signed in. */
export interface RegisterCaller {
  user_id: string | null
  isAdministrator: boolean
}

/** Returns the tag by which the deposits and registers are asked for an item of a call. */
export function tagOfItem({ lookup }: CompanySecretKeys, item: VerifiedItem): Buffer {
  if ('sha256' in item) return keyedHashOf(lookup, 'sha256', Buffer.from(item.sha256, 'hex'))
  return tagOfReference(lookup, item.data_source.toLowerCase(), item.reference, item.fields)
}

/** The same for all check fields: under it, misses of the reference are counted. */
export function missKeyOf(
  { lookup }: CompanySecretKeys,
  { data_source, reference }: ReferenceItem
): string {
  return tagOfReference(lookup, data_source.toLowerCase(), reference, []).toString('base64url')
}

/** The registers that a caller may ask, in the order in which they are named, and what they list. */
export interface AskedRegisters {
  sources: AskedRegister[]
  // by their tags in hexadecimal
  rows: Map<string, FoundRow[]>
}

interface AskedRegister {
  source_id: string
  name: string
  number: number
  columns: RegisterColumn[]
  created_at: Date
}

interface FoundRow {
  source_id: string
  segment: number
  tag: Buffer
  /** Null beyond `maxShownBytes`. */
  sealed: Buffer | null
}

/**
 * Asks all registers at once that answer for a category which the caller may verify: everybody for
 * `public` ones, members and administrators for `private` ones, nobody for `receipt_only` ones. A
 * single query looks up rows and permissions, so that the response time does not reveal a row of a
 * register that the caller may not ask.
 */
export async function askRegisters(
  tx: Tx,
  tags: readonly Buffer[],
  { user_id, isAdministrator }: RegisterCaller
): Promise<AskedRegisters> {
  const values = [tx.companyId, tags, isAdministrator, user_id]
  const found = await tx.raw<AskedRegister & FoundRow>({ text: askSql, values })
  return {
    sources: found.filter(({ tag }) => tag === null),
    rows: Map.groupBy(
      found.filter(({ tag }) => tag !== null),
      ({ tag }) => tag.toString('hex')
    )
  }
}

// a row can have 1.6 MB, and a call a thousand of them
const maxShownBytes = 16_000_000

// the rows by their tags first, because there are few
const askSql = `
  with asked as (
    select source.id, source.name, source.position, source.number, source.columns, source.segments,
      register_version.created_at
    from data_source source
    join register_version on register_version.company_id = source.company_id
      and register_version.source_id = source.id and register_version.number = source.number
    where source.company_id = $1 and exists (
      select from category_data_source link
      join category on category.company_id = link.company_id and category.id = link.category_id
      where link.company_id = $1 and link.source_id = source.id and (
        category.visibility = 'public' or category.visibility = 'private' and (
          $3::boolean or category.id = any (array(
            select group_category.category_id from group_category
            join group_user on group_user.company_id = group_category.company_id
              and group_user.group_id = group_category.group_id
            where group_category.company_id = $1 and group_user.user_id = $4::uuid))))
    )
  ), hit as materialized (
    select source_id, segment, tag, sealed from register_row
    where company_id = $1 and tag = any ($2::bytea[])
  )
  select id as source_id, name, number, columns, created_at, position,
    null::integer as segment, null::bytea as tag, null::bytea as sealed
  from asked
  union all
  select hit.source_id, null, null, null, null, asked.position, hit.segment, hit.tag,
    case when sum(octet_length(hit.sealed)) over (order by hit.tag, hit.source_id, hit.segment)
      <= ${maxShownBytes} then hit.sealed end
  from hit join asked on asked.id = hit.source_id and hit.segment = any (asked.segments)
  order by position, source_id, segment`

interface AnswerContext {
  keys: Pick<CompanySecretKeys, 'data'>
  company_id: CompanyId
  log: Log
}

/** What the registers say of an item, and of which registers the answer names the version. */
export interface RegisterAnswer {
  sources: SourceAnswer[]
  asked: AskedSource[]
}

/**
 * A row that cannot be opened is `unreachable`, and the log says in which segment it is.
 * Throws `not_found` if the item names a register that the caller may not ask, as if there were none,
 * and `invalid_input` if it has not as many fields as the register checks.
 */
export function answerOfRegisters(
  { keys, company_id, log }: AnswerContext,
  { sources, rows }: AskedRegisters,
  item: VerifiedItem,
  tag: Buffer
): RegisterAnswer {
  const asked =
    'sha256' in item
      ? sources.filter(({ columns }) => columns.some(({ use }) => use === 'fingerprint'))
      : [requireSource(sources, item)]
  const listed = rows.get(tag.toString('hex')) ?? []
  return {
    asked: asked.map(({ source_id: id, name, number: version, created_at }) => ({
      ...{ id, name, version },
      at: created_at.toISOString()
    })),
    sources: asked.map(({ source_id, columns }): SourceAnswer => {
      // the newest, if a segment repeats a row of an earlier one
      const row = listed.findLast(each => each.source_id === source_id)
      if (!row) return { id: source_id, result: 'not_found' }
      const { segment, sealed } = row
      if (!sealed) return { id: source_id, result: 'found' }
      const place = { company_id, source_id, segment }
      try {
        const { cells } = openRow(keys, place, { tag, sealed })
        return { id: source_id, result: 'found', values: shownValues(columns, cells) }
      } catch {
        // without the error, which may quote what it could not read
        log.error(place, 'a row of a register cannot be opened')
        return { id: source_id, result: 'unreachable' }
      }
    })
  }
}

function requireSource(
  sources: readonly AskedRegister[],
  { data_source, fields }: ReferenceItem
): AskedRegister {
  const source = sources.find(({ source_id }) => source_id === data_source.toLowerCase())
  if (!source?.columns.some(({ use }) => use === 'reference')) {
    throw new AppError('not_found', 'There is no such register in which the caller may look up')
  }
  const wanted = checkColumnsOf(source).length
  if (fields.length !== wanted) {
    throw new AppError('invalid_input', `The register checks ${wanted} fields`, {
      fields: { items: { rule: 'format', detail: `${wanted} fields for this register` } }
    })
  }
  return source
}

function shownValues(columns: readonly RegisterColumn[], cells: RowCells) {
  const names = cellNamesOf(columns)
  return columns.flatMap(({ index, use, shown, labels }) => {
    const value = cells[names.get(index) ?? '']
    return (shown || use !== 'check') && value !== undefined ? [{ labels, value }] : []
  })
}

export async function listOfferedSources(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId,
  caller: RegisterCaller
): Promise<OfferedSource[]> {
  const { sources } = await inCompany(deps.db, company_id, tx => askRegisters(tx, [], caller))
  return sources.flatMap(source => {
    const reference = source.columns.find(({ use }) => use === 'reference')
    if (!reference) return []
    const fields = checkColumnsOf(source).map(({ labels, date }) => ({
      labels,
      type: date === undefined ? ('text' as const) : ('date' as const)
    }))
    return { id: source.source_id, name: source.name, reference: reference.labels, fields }
  })
}

function checkColumnsOf({ columns }: Pick<AskedRegister, 'columns'>): RegisterColumn[] {
  return columns.filter(({ use }) => use === 'check')
}
