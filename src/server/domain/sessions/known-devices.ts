import { timingSafeEqual } from 'node:crypto'
import type { CompanyId, Deps } from '../deps.ts'

// a value for the browser to store, which proves at later logins that the person has signed in with
// it before
export function createDeviceProof(
  deps: Pick<Deps, 'keys' | 'random'>,
  company_id: CompanyId,
  user_id: string
): string {
  const random = Buffer.from(deps.random(16)).toString('base64url')
  return `${random}.${deviceMac(deps, company_id, user_id, random).toString('base64url')}`
}

export function isValidDeviceProof(
  deps: Pick<Deps, 'keys'>,
  device: string,
  company_id: CompanyId,
  user_id: string
): boolean {
  // accept only one spelling, because each spelling would have a counter of its own
  const [, random = '', mac = ''] =
    /^([\w-]{21}[AQgw])\.([\w-]{42}[AEIMQUYcgkosw048])$/.exec(device) ?? []
  return (
    random !== '' &&
    timingSafeEqual(deviceMac(deps, company_id, user_id, random), Buffer.from(mac, 'base64url'))
  )
}

function deviceMac(
  deps: Pick<Deps, 'keys'>,
  company_id: CompanyId,
  user_id: string,
  random: string
): Buffer {
  return deps.keys.mac('device', `${company_id}|${user_id}|${random}`)
}
