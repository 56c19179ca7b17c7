import { sql } from 'kysely'
import { countRows, selectInCompany } from '../../db/company-queries.ts'
import type { Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import type {
  AppliedCounts,
  ImportInProgress,
  ImportRowHandlers,
  RowSlice
} from '../imports/import-work.ts'
import { requireRoom } from '../limits/bounds.ts'
import { queueMails } from '../mail/mail-queue.ts'
import { releaseInvitationTimes, reserveInvitationTimes } from './invitations.ts'
import { checkUserImportRows } from './user-import-checks.ts'

export const userImportRowHandlers: ImportRowHandlers = {
  async checkRows(tx, deps, work, { from, to }) {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    await checkUserImportRows(tx, deps, work, numbers)
  },
  needs: neededGroups,
  keep: keepGroups,
  async apply(tx, deps, work, slice) {
    const created = await createPeople(tx, deps, work, slice)
    const missed = [...created, ...(await changePeople(tx, work, slice))]
    if (missed.length > 0) await refuseMissed(tx, work, missed)
    return missed
  },
  async afterRun(tx, deps, work, goOn) {
    if (work.options.send_invitations) await invitePeople(tx, deps, work, goOn)
    const digest = await digestOf(tx, work)
    const created = await countRows(
      selectInCompany(tx, 'import_row')
        .where('import_id', '=', work.id)
        .where('verdict', '=', 'new')
    )
    // last, because nobody else can join the company from here to the commit
    await requireRoom(tx, deps, 'people', created, { isAdded: true })
    return { digest }
  },
  countApplied,
  async revert(tx, _deps, work, slice) {
    await lockPeople(tx, work, slice)
    await removePeople(tx, work, slice)
    await restorePeople(tx, work, slice)
  },
  async afterUndo(tx, deps, work) {
    if (work.options.send_invitations) await withdrawInvitations(tx, deps, work)
  }
}

async function neededGroups(
  tx: Tx,
  { id }: ImportInProgress,
  { from, to }: RowSlice
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct unnest(group_ids) as id from import_row
     where company_id = ${tx.companyId} and import_id = ${id} and verdict in ('new', 'changed')
       and number between ${from} and ${to}`.execute(tx)
  return rows.map(row => row.id)
}

// until the transaction ends, nobody can delete these groups
async function keepGroups(tx: Tx, ids: string[]): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    select id from "group" where company_id = ${tx.companyId} and id = any (${ids}::uuid[])
     order by id for key share`.execute(tx)
  return rows.length === ids.length
}

// Below, `(… in (…)) is true` makes PostgreSQL look ids up in a hash table. Without `is true` it
// would compare each row of a slice with each other one, because a run forbids joins by hash.

// Returns the numbers of the rows whose e-mail has got an account since the import was checked.
async function createPeople(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { id, options }: ImportInProgress,
  { from, to }: RowSlice
): Promise<number[]> {
  const company_id = tx.companyId
  const now = deps.clock()
  const { rows } = await sql<{ number: number }>`
    with slice as materialized (
      select number, user_id, email, username, locale, group_ids from import_row
       where company_id = ${company_id} and import_id = ${id} and verdict = 'new'
         and number between ${from} and ${to}
    ), created as (
      insert into "user" (
        company_id, id, email, username, locale, tokens_valid_after, created_at, invited_at,
        imported_by
      )
      select ${company_id}::uuid, user_id, email,
             coalesce(username, left(split_part(email, '@', 1), 80)),
             coalesce(locale, ${options.locale}::text, 'und'), ${new Date(0)}, ${now}, ${now},
             ${id}::uuid
        from slice order by number
      on conflict (company_id, email) do nothing
      returning id
    ), members as (
      insert into group_user (company_id, group_id, user_id)
      select ${company_id}::uuid, unnest(group_ids), user_id
        from slice where (user_id in (select id from created)) is true
    )
    select number from slice where (user_id in (select id from created)) is not true`.execute(tx)
  return rows.map(({ number }) => number)
}

// Returns the numbers of the rows whose people have been changed, disabled or deleted since the
// import was checked.
async function changePeople(
  tx: Tx,
  { id }: ImportInProgress,
  { from, to }: RowSlice
): Promise<number[]> {
  const company_id = tx.companyId
  const { rows } = await sql<{ number: number }>`
    with slice as materialized (
      select number, user_id, email, username, locale, group_ids, former_username, former_locale
        from import_row
       where company_id = ${company_id} and import_id = ${id} and verdict = 'changed'
         and number between ${from} and ${to}
    ), changed as (
      update "user" set
          username = coalesce(slice.username, "user".username),
          locale = coalesce(slice.locale, "user".locale),
          version = "user".version + 1
        from slice
       where "user".company_id = ${company_id} and "user".id = slice.user_id
         and "user".email = slice.email and "user".username = slice.former_username
         and "user".locale = slice.former_locale and "user".permissions = '{}'
         and "user".disabled is null and "user".deleted_at is null
      returning "user".id
    ), members as (
      insert into group_user (company_id, group_id, user_id, imported_by)
      select ${company_id}::uuid, unnest(group_ids), user_id, ${id}::uuid
        from slice where (user_id in (select id from changed)) is true
      on conflict do nothing
    )
    select number from slice where (user_id in (select id from changed)) is not true`.execute(tx)
  return rows.map(({ number }) => number)
}

async function refuseMissed(tx: Tx, { id }: ImportInProgress, numbers: number[]): Promise<void> {
  const reasons = JSON.stringify([{ column: 'email', code: 'changed_meanwhile' }])
  await sql`
    update import_row set verdict = 'refused', reasons = ${reasons}, user_id = null
     where company_id = ${tx.companyId} and import_id = ${id}
       and number = any (${numbers}::integer[])`.execute(tx)
}

const invitedAtOnce = 1_000

async function invitePeople(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'signals'>,
  work: ImportInProgress,
  goOn: () => Promise<void>
): Promise<void> {
  const sender = { company_id: tx.companyId, host: work.host }
  for await (const people of createdPeople(tx, work)) {
    const times = await reserveInvitationTimes(
      tx,
      deps,
      people.map(({ email }) => email)
    )
    const mails = people.flatMap(({ id: subject, email, locale }, at) => {
      const time = times[at]
      if (!time?.isNew) return []
      return { kind: 'activate' as const, email, locale, subject, due: time.due }
    })
    await queueMails(tx, deps, sender, mails)
    await goOn()
  }
}

async function withdrawInvitations(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock'>,
  work: ImportInProgress
): Promise<void> {
  for await (const people of createdPeople(tx, work)) {
    await sql`
      delete from mail where company_id = ${tx.companyId} and kind = 'activate'
         and subject = any (${people.map(({ id }) => id)}::uuid[])`.execute(tx)
    await releaseInvitationTimes(
      tx,
      deps,
      people.map(({ email }) => email)
    )
  }
}

// while a run is being undone, without the people who stay, such as those whose account is
// activated
async function* createdPeople(
  tx: Tx,
  { id, options }: ImportInProgress
): AsyncGenerator<{ id: string; email: string; locale: string }[], void> {
  for (let after = 0; ; ) {
    const { rows } = await sql<{ number: number; id: string; email: string; locale: string }>`
      select number, user_id as id, email, coalesce(locale, ${options.locale}::text, 'und') as locale
        from import_row
       where company_id = ${tx.companyId} and import_id = ${id} and verdict = 'new'
         and kept is null and number > ${after}
       order by number limit ${invitedAtOnce}`.execute(tx)
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)?.number ?? after
  }
}

// Identifies the people whom a run has created or changed in the audit log, also after the rows are
// erased. It hashes no e-mails, because somebody could guess them.
async function digestOf(tx: Tx, { id }: ImportInProgress): Promise<string> {
  const { rows } = await sql<{ digest: string | null }>`
    select encode(sha256(convert_to(
        coalesce(string_agg(left(verdict, 1) || user_id, ',' order by number), ''), 'UTF8'
      )), 'hex') as digest
      from import_row
     where company_id = ${tx.companyId} and import_id = ${id}
       and verdict in ('new', 'changed')`.execute(tx)
  return rows[0]?.digest ?? ''
}

async function countApplied(
  tx: Tx,
  { id }: ImportInProgress,
  { from, to }: RowSlice
): Promise<AppliedCounts> {
  const company_id = tx.companyId
  const { rows } = await sql<{ created: number; changed: number }>`
    select count(*) filter (where verdict = 'new') as created,
           count(*) filter (
             where verdict = 'changed'
               and "user".username = coalesce(import_row.username, "user".username)
               and "user".locale = coalesce(import_row.locale, "user".locale)
           ) as changed
      from import_row
      join "user" on "user".company_id = ${company_id} and "user".id = import_row.user_id
     where import_row.company_id = ${company_id} and import_row.import_id = ${id}
       and number between ${from} and ${to} and verdict in ('new', 'changed') and (
         select count(*) from group_user
          where group_user.company_id = ${company_id} and group_user.user_id = "user".id
            and group_user.group_id = any (import_row.group_ids)
       ) = cardinality(import_row.group_ids)`.execute(tx)
  return rows[0] ?? { created: 0, changed: 0 }
}

// so that nobody activates or changes these people while the slice is undone
async function lockPeople(tx: Tx, { id }: ImportInProgress, { from, to }: RowSlice): Promise<void> {
  await sql`
    select count(*) from (
      select "user".id from "user"
       where "user".company_id = ${tx.companyId} and "user".id = any (array(
         select user_id from import_row
          where import_row.company_id = ${tx.companyId} and import_row.import_id = ${id}
            and verdict in ('new', 'changed') and number between ${from} and ${to}
       ))
       order by "user".id for update
    ) locked`.execute(tx)
}

// administrators and people whose account is activated or deleted stay, with the reason in `kept`
async function removePeople(
  tx: Tx,
  { id }: ImportInProgress,
  { from, to }: RowSlice
): Promise<void> {
  const company_id = tx.companyId
  await sql`
    update import_row set kept = case
        when "user".deleted_at is not null then 'deleted'
        when "user".permissions <> '{}' then 'administrator'
        else 'activated'
      end
      from "user"
     where import_row.company_id = ${company_id} and import_row.import_id = ${id}
       and verdict = 'new' and number between ${from} and ${to}
       and "user".company_id = ${company_id} and "user".id = import_row.user_id
       and ("user".deleted_at is not null or "user".permissions <> '{}' or exists (
         select from user_key
          where user_key.company_id = ${company_id} and user_key.user_id = "user".id
       ))`.execute(tx)
  const removed = sql`array(
    select user_id from import_row
     where company_id = ${company_id} and import_id = ${id} and verdict = 'new' and kept is null
       and number between ${from} and ${to})`
  await sql`
    delete from group_user where company_id = ${company_id} and user_id = any (${removed})`.execute(
    tx
  )
  await sql`
    delete from mail_token where company_id = ${company_id} and subject = any (${removed})`.execute(
    tx
  )
  await sql`
    select erase_audit_values(person_id) from (
      select distinct person_id from audit_value
       where company_id = ${company_id} and person_id = any (${removed})
    ) told`.execute(tx)
  await sql`select remove_invited_people(${removed})`.execute(tx)
}

// Keeps a name or language that has been changed again since the run, and a membership that
// somebody has given again. `kept` says why anything was not undone.
async function restorePeople(
  tx: Tx,
  { id }: ImportInProgress,
  { from, to }: RowSlice
): Promise<void> {
  const company_id = tx.companyId
  await sql`
    with slice as materialized (
      select import_row.number, import_row.user_id, import_row.group_ids,
             import_row.username is not null as has_username,
             import_row.locale is not null as has_locale,
             former_username, former_locale,
             "user".username = coalesce(import_row.username, "user".username) as is_username_same,
             "user".locale = coalesce(import_row.locale, "user".locale) as is_locale_same,
             case when "user".deleted_at is not null then 'deleted'
                  when "user".permissions <> '{}' then 'administrator' end as untouchable,
             cardinality(import_row.group_ids) = (
               select count(*) from group_user
                where group_user.company_id = ${company_id}
                  and group_user.user_id = "user".id
                  and group_user.group_id = any (import_row.group_ids)
                  and group_user.imported_by = ${id}
             ) as is_member
        from import_row
        join "user" on "user".company_id = ${company_id} and "user".id = import_row.user_id
       where import_row.company_id = ${company_id} and import_row.import_id = ${id}
         and verdict = 'changed' and number between ${from} and ${to}
    ), restored as (
      update "user" set
          username = case when has_username and is_username_same
            then former_username else "user".username end,
          locale = case when has_locale and is_locale_same then former_locale else "user".locale end,
          version = "user".version + 1
        from slice
       where "user".company_id = ${company_id} and "user".id = slice.user_id
         and untouchable is null
    ), left_groups as (
      delete from group_user using slice
       where group_user.company_id = ${company_id} and group_user.user_id = slice.user_id
         and group_user.group_id = any (slice.group_ids) and group_user.imported_by = ${id}
         and untouchable is null
    )
    update import_row set kept = coalesce(untouchable,
        case when not (is_username_same and is_locale_same and is_member) then 'changed' end)
      from slice
     where import_row.company_id = ${company_id} and import_row.import_id = ${id}
       and import_row.number between ${from} and ${to} and import_row.number = slice.number`.execute(
    tx
  )
}
