import { type RawBuilder, sql } from 'kysely'
import { importLimits } from '../../../contract/imports.ts'
import { maxGroupsPerPerson } from '../../../contract/kit/limits.ts'
import type { StoredUserImportOptions } from '../../db/schema.ts'
import type { Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'

// Stores in each row its verdict, the person's id and the groups to join, and the person's present
// username and language for an undo. A trigger leaves rows for which nothing changes as they are,
// so that repeated checks do not fill the disk.
export async function checkUserImportRows(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { id, options }: { id: string; options: StoredUserImportOptions },
  numbers: number[]
): Promise<void> {
  const company_id = tx.companyId
  const which = sql`company_id = ${company_id} and import_id = ${id}
    and number = any (${numbers}::integer[])`
  // PostgreSQL has no statistics of rows that were stored a moment ago. So there is nothing to join
  // here: each row looks up what it needs, by conditions that only one index satisfies.
  await sql`
    with known as materialized (
      select coalesce(jsonb_object_agg(given.name, "group".id), '{}') as ids
        from (select distinct unnest(group_names) as name from import_row where ${which}) given
        join "group" on "group".company_id = ${company_id}
          and "group".search = fold_text(given.name)
    ), usual as materialized (
      select array_agg("group".id) as ids from "group"
       where "group".company_id = ${company_id} and "group".is_default
    ), first as materialized (
      ${firstRowsSql(company_id, id, sql`array(select email from import_row where ${which})`)}
    )
    update import_row set (
      verdict, reasons, kept, user_id, group_ids, former_username, former_locale
    ) = (
      select case
               when import_row.verdict = 'skipped' then 'skipped'
               when verdict.reasons <> '[]' then 'refused'
               when person.id is null then 'new'
               when differs then 'changed'
               else 'unchanged'
             end,
             nullif(verdict.reasons, '[]'),
             null,
             case when verdict.reasons <> '[]' or import_row.verdict = 'skipped' then null else coalesce(
               person.id, case when import_row.verdict = 'new' then import_row.user_id end,
               ${newIdSql(deps)}) end,
             case when person.id is not null or cardinality(joined) > 0 then joined
               else coalesce((select ids from usual), '{}') end,
             person.username,
             person.locale
        from (values (import_row.email)) as cell (email)
        left join "user" person on person.company_id = ${company_id}
          and person.email = cell.email
        cross join lateral (
          select array_agg(distinct wanted) filter (where wanted is not null) as wanted,
                 jsonb_path_query_array(
                   jsonb_agg(jsonb_build_object('column', 'groups', 'code', 'unknown',
                     'value', left(name, 80))) filter (where wanted is null),
                   ${`$[0 to ${importLimits.unknownGroups - 1}]`}::jsonpath) as faults
            from (
              select name, ((select ids from known) ->> name)::uuid as wanted
                from unnest(import_row.group_names) as name
              union all
              select null, unnest(${options.groups}::uuid[])
            ) named
        ) named
        cross join lateral (
          select array(
            select unnest(named.wanted) except
            select group_id from group_user
             where group_user.company_id = ${company_id} and group_user.user_id = person.id
          ) as joined
        ) membership
        cross join lateral (
          select cardinality(joined) > 0 and cardinality(joined) + (
            select count(*) from group_user
             where group_user.company_id = ${company_id} and group_user.user_id = person.id
          ) > ${maxGroupsPerPerson} as is_over
        ) groups
        cross join lateral (
          select coalesce(import_row.username <> person.username, false)
              or coalesce(import_row.locale <> person.locale, false)
              or cardinality(joined) > 0 as differs
        ) comparison
        cross join lateral (
          select ${earlierRowSql} as number
        ) earlier
        cross join lateral (
          select coalesce(import_row.faults, '[]') || coalesce(named.faults, '[]')
            || case when is_over then '[{"column": "groups", "code": "too_many"}]'::jsonb else '[]' end
            || case when earlier.number is null then '[]' else jsonb_build_array(
                 jsonb_build_object('column', 'email', 'code', 'duplicate', 'row', earlier.number)
               ) end
            || case
                 when person.deleted_at is not null
                   then '[{"column": "email", "code": "deleted"}]'::jsonb
                 when person.disabled is not null
                   then '[{"column": "email", "code": "disabled"}]'
                 when person.permissions <> '{}' and differs
                   then '[{"column": "email", "code": "administrator"}]'
                 else '[]'
               end as reasons
        ) verdict
    )
     where ${which}`.execute(tx)
}

// Of several rows with the same e-mail, all but the first that is not skipped are duplicates, and
// they store its number. Returns the rows whose stored number is no longer true.
export async function findRowsToRecheck(tx: Tx, id: string, emails: string[]): Promise<number[]> {
  const { companyId: company_id } = tx
  const { rows } = await sql<{ number: number }>`
    with first as materialized (${firstRowsSql(company_id, id, sql`${emails}::text[]`)})
    select number from import_row
     where ${hasEmailSql(company_id, id, sql`${emails}::text[]`)}
       and ${earlierRowSql} is distinct from (
         select (reason ->> 'row')::integer from jsonb_array_elements(reasons) reason
          where reason ->> 'code' = 'duplicate')
     order by number`.execute(tx)
  return rows.map(({ number }) => number)
}

// One JSON object with the first row of each e-mail that is not skipped. It reads each row once,
// even if many rows have the same e-mail.
function firstRowsSql(company_id: string, id: string, emails: RawBuilder<unknown>) {
  return sql`
    select coalesce(jsonb_object_agg(email, number), '{}') as numbers
      from (select email, min(number) as number from import_row
             where ${hasEmailSql(company_id, id, emails)} and verdict is distinct from 'skipped'
             group by email) first_row`
}

// null if no earlier row has this e-mail; the statement must define `first` with `firstRowsSql`
const earlierRowSql = sql`nullif(least(
  ((select numbers from first) ->> import_row.email)::integer, import_row.number
), import_row.number)`

// `is not distinct from` on purpose: PostgreSQL then searches the rows by e-mail and not by import
function hasEmailSql(company_id: string, id: string, emails: RawBuilder<unknown>) {
  return sql`company_id = ${company_id} and email = any (${emails})
    and import_id is not distinct from ${id}::uuid`
}

function newIdSql(deps: Pick<Deps, 'clock'>): RawBuilder<string> {
  const time = Buffer.alloc(6)
  time.writeUIntBE(deps.clock().getTime(), 0, 6)
  // PostgreSQL has a function for it from version 18 on; this turns the version from 4 into 7
  return sql`encode(
    set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing ${time} from 1), 52, 1), 53, 1), 'hex'
  )::uuid`
}
