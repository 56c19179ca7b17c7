import type { CompanyId, InstallationKeys } from '../deps.ts'

interface Owner {
  company_id: CompanyId
  user_id: string
}

// equal digests of a person give equal results, so that a query can find their open upload of the
// same file
export function encryptDigest(
  keys: Pick<InstallationKeys, 'sealSame'>,
  owner: Owner,
  digest: Buffer
): Buffer {
  return keys.sealSame(digest, aadOf(owner))
}

// 32 bytes are a digest that an earlier release stored unencrypted
export function decryptDigest(
  keys: Pick<InstallationKeys, 'open'>,
  owner: Owner,
  sealed: Buffer
): Buffer {
  return sealed.length === 32 ? sealed : keys.open(sealed, aadOf(owner))
}

function aadOf({ company_id, user_id }: Owner): string {
  return `vidimus/upload/v1|${company_id}|${user_id}`
}
