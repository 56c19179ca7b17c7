import type pg from 'pg'
import { tablesOf } from './matrix.ts'

/**
 * Returns the forms in which a secret may appear in a dump: as it is, URL-encoded, and in hex and
 * base64. If the secret is itself hex or base64url, also returns the hex and base64 of the bytes
 * that it encodes.
 */
export function encodingsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret)
  const kind = /^[0-9a-f]{64,}$/.test(secret) ? 'hex' : 'base64url'
  const decoded = Buffer.from(secret, kind)
  const all = decoded.length < 16 ? [Buffer.from(secret)] : [Buffer.from(secret), decoded]
  const written = all.flatMap(bytes => [
    bytes.toString('hex'),
    // without the last characters, which depend on what follows
    bytes.toString('base64').replace(/.{0,2}=*$/, ''),
    bytes.toString('base64url').replace(/.{0,2}$/, '')
  ])
  return [...new Set([secret, encoded, encoded.replaceAll('%20', '+'), ...written])]
}

/** Returns all rows of all tables as text, with bytes in hex. */
export async function dumpDatabase(owner: pg.Pool): Promise<string> {
  const { all } = await tablesOf(owner)
  const parts: string[] = []
  for (const name of all) {
    const { rows } = await owner.query(`select t::text as row from "${name}" t`)
    parts.push(...rows.map(({ row }) => `${name} ${row}`))
  }
  return parts.join('\n')
}
