import type pg from 'pg'

const rowsAtOnce = 2000

/**
 * Makes the rows of one database those of another. Takes those of the tables in `instead` from
 * statements, which return them as JSON in `row`.
 */
export async function copyRows(
  from: pg.Pool,
  to: pg.Pool,
  instead: Record<string, string> = {}
): Promise<void> {
  const client = await to.connect()
  try {
    // without triggers and foreign keys
    await client.query('set session_replication_role = replica')
    const { rows: tables } = await client.query<{ name: string; columns: string }>(
      `select table_name as name, string_agg(quote_ident(column_name), ', ') as columns
         from information_schema.columns
         join information_schema.tables using (table_schema, table_name)
        where table_schema = 'public' and table_type = 'BASE TABLE' and is_generated = 'NEVER'
          and table_name not like 'schema\\_%'
        group by 1`
    )
    await client.query(`truncate ${tables.map(({ name }) => `"${name}"`).join()} cascade`)
    for (const { name, columns } of tables) {
      const given = instead[name] ?? `select to_jsonb(t)::text as row from "${name}" t`
      const { rows } = await from.query<{ row: string }>(given)
      for (let at = 0; at < rows.length; at += rowsAtOnce) {
        const part = rows.slice(at, at + rowsAtOnce).map(({ row }) => row)
        await client.query(
          `insert into "${name}" (${columns})
           select ${columns} from jsonb_populate_recordset(null::"${name}", $1::jsonb)`,
          [`[${part.join()}]`]
        )
      }
    }
    await client.query('set session_replication_role = origin')
  } finally {
    client.release()
  }
}
