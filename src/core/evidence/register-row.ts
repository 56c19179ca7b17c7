import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concatBytes } from '../bytes.ts'
import { createHashInputPrefix } from './formats.ts'

/** A row of a register, and the place to which its commitment binds it. */
export interface RegisterRow {
  /** Record id of the register. */
  register: string
  segment: number
  /** 32 random bytes. */
  salt: Uint8Array
  /** The canonical JSON of the key column and the shown columns, by their names. */
  cells: Uint8Array
}

/** Returns the salted SHA-256 that reveals nothing about a row to people without its salt. */
export function commitToRow({ register, segment, salt, cells }: RegisterRow): Bytes {
  if (salt.length !== 32) throw new Error('row: a salt has 32 bytes')
  const prefix = createHashInputPrefix('row', register, String(segment))
  return sha256(concatBytes(prefix, salt, cells))
}
