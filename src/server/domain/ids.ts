import type { Deps } from './deps.ts'

/** A UUIDv7 grows with time, so rows created one after the other are close together in an index. */
export function newId(deps: Pick<Deps, 'clock' | 'random'>): string {
  const bytes = Buffer.from(deps.random(16))
  bytes.writeUIntBE(deps.clock().getTime(), 0, 6)
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Unlike a UUIDv7, it does not reveal when it was created. */
export function newRandomId(deps: Pick<Deps, 'random'>): string {
  return Buffer.from(deps.random(16)).toString('base64url')
}
