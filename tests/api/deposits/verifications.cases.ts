import { createHash, randomBytes } from 'node:crypto'
import { verify } from '../../../src/contract/verifications.ts'
import { makeApp } from '../../helpers/app.ts'
import {
  callWithZeroQuota,
  type RefusalContext,
  type Refusals,
  type RouteCases,
  requestOf,
  uploadBytes
} from '../../helpers/cases.ts'

const uploadDigest = createHash('sha256').update(uploadBytes).digest('hex')

export const rows: RouteCases = {
  verify: { input: () => ({ items: [{ sha256: uploadDigest }] }) }
}

/** Returns functions that each provoke one error code of a call: `'verify too_many_items'`. */
export function refusals({ app, ask }: RefusalContext): Refusals {
  return {
    'verify too_many_items': () => ask('verify', { items: fingerprints(21) }, {}),
    'verify request_limit_reached': () =>
      callWithZeroQuota(app, () => ask('verify', { items: fingerprints(1) })),
    'verify lookup_limited': async () => {
      const limits = { ...app.deps.settings.limits, verifyPerAddressMinute: 1 }
      await using strict = await makeApp({ settings: { limits } })
      const request = requestOf(verify, { items: fingerprints(1) })
      await strict.request('api.acme.localhost', request)
      return await strict.request('api.acme.localhost', request)
    }
  }

  function fingerprints(count: number): { sha256: string }[] {
    return Array.from({ length: count }, () => ({ sha256: randomBytes(32).toString('hex') }))
  }
}
