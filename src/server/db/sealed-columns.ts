import type { Database } from './schema.ts'

type TableWithSeals = {
  [Table in keyof Database]: Database[Table] extends { kek_id: unknown } ? Table : never
}[keyof Database]

/**
 * All columns whose bytes are sealed under the root secret of the installation. `kek_id` of the row is
 * the id of the secret that sealed them. What is sealed under a key of a company is not here, because
 * that key is.
 */
export const sealedColumns: readonly { table: TableWithSeals; column: string }[] = [
  { table: 'company_key', column: 'sealed' },
  { table: 'email_change', column: 'pub_enc' },
  { table: 'platform_key', column: 'sealed' },
  { table: 'signup', column: 'pub_enc' },
  { table: 'upload', column: 'original' },
  { table: 'upload', column: 'stored' },
  { table: 'user_key', column: 'pub_enc' }
]
