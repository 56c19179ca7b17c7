import type { CompanyId, Keys } from '../deps.ts'

interface Owner {
  company_id: CompanyId
  user_id: string
}

/**
 * Seals a declared digest for the row of an upload. The same digest of the same person gives the same
 * bytes, so that an open upload can be found by its file.
 */
export function sealDigest(keys: Pick<Keys, 'sealSame'>, owner: Owner, digest: Buffer): Buffer {
  return keys.sealSame(digest, aadOf(owner))
}

/** Opens what `sealDigest` made. Rows of earlier versions hold the 32 bytes themselves. */
export function openDigest(keys: Pick<Keys, 'open'>, owner: Owner, sealed: Buffer): Buffer {
  return sealed.length === 32 ? sealed : keys.open(sealed, aadOf(owner))
}

function aadOf({ company_id, user_id }: Owner): string {
  return `vidimus/upload/v1|${company_id}|${user_id}`
}
