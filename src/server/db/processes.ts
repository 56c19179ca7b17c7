import { type RawBuilder, type SqlBool, sql } from 'kysely'

/**
 * First part of the name of the database connection on which each process listens for
 * notifications.
 */
export const listenerPrefix = 'vidimus hints'

/**
 * Returns the name of the database connection on which a process listens. `process` is the name of
 * the process.
 */
export function listenerName(process: string): string {
  return `${listenerPrefix} ${process}`
}

/**
 * Returns the SQL condition that a process still runs. `process` is SQL for its name. A process
 * runs while its connection for notifications is open. The condition also holds if nobody can know:
 * for null, and if this role may not read the names of connections.
 */
export function isRunning(process: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`(${process} is null or exists (
    select from pg_stat_activity
    where datname = current_database() and usename = session_user and
      (application_name is null or application_name = ${`${listenerPrefix} `} || ${process})))`
}
