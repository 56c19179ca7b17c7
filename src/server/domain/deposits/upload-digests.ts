import type { CompanyId, Keys } from '../deps.ts'

interface Owner {
  company_id: CompanyId
  user_id: string
}

/**
 * Encrypts a digest for the row of an upload. Equal digests of the same person give equal bytes, so
 * that a query can find the open upload of a file.
 */
export function sealDigest(keys: Pick<Keys, 'sealSame'>, owner: Owner, digest: Buffer): Buffer {
  return keys.sealSame(digest, aadOf(owner))
}

/** Decrypts the digest of an upload. Rows of earlier releases contain the plain 32 bytes. */
export function openDigest(keys: Pick<Keys, 'open'>, owner: Owner, sealed: Buffer): Buffer {
  return sealed.length === 32 ? sealed : keys.open(sealed, aadOf(owner))
}

function aadOf({ company_id, user_id }: Owner): string {
  return `vidimus/upload/v1|${company_id}|${user_id}`
}
