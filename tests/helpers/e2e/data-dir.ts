import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of data of the service under test, as playwright.config.ts sets it. */
export const dataDir = process.env.E2E_DATA_DIR ?? ''

/** Returns the folder of the socket of the service's database. */
export function socketDir(): string {
  return readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[4] ?? ''
}
