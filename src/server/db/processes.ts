import { type RawBuilder, type SqlBool, sql } from 'kysely'

export const notificationConnectionPrefix = 'vidimus hints'

export function notificationConnectionName(process: string): string {
  return `${notificationConnectionPrefix} ${process}`
}

/**
 * True while the process that is named by this SQL expression has its connection for notifications
 * open. Also true if the name is null, or if this role may not read the names of connections.
 */
export function processRunsCondition(process: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`(${process} is null or exists (
    select from pg_stat_activity
    where datname = current_database() and usename = session_user and
      (application_name is null or application_name = ${`${notificationConnectionPrefix} `} || ${process})))`
}
