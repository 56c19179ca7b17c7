import { type RawBuilder, type SqlBool, sql } from 'kysely'

/**
 * The beginning of the name of each database connection on which a process listens for
 * notifications.
 */
export const notificationConnectionPrefix = 'vidimus hints'

/**
 * Returns the name of the database connection on which a process listens for notifications.
 * `process` is the name of the process.
 */
export function notificationConnectionName(process: string): string {
  return `${notificationConnectionPrefix} ${process}`
}

/**
 * Returns an SQL condition that is true while a process runs. The condition checks that the process
 * has its connection for notifications open. `process` is an SQL expression for the name of the
 * process. If that name is null, or if this database role may not read the names of connections,
 * the condition is true.
 */
export function processRunsCondition(process: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`(${process} is null or exists (
    select from pg_stat_activity
    where datname = current_database() and usename = session_user and
      (application_name is null or application_name = ${`${notificationConnectionPrefix} `} || ${process})))`
}
