import { verify } from '../../contract/verifications.ts'
import type { VerifyFingerprints } from '../domain/deposits/verifications.ts'
import type { Api } from './kit/context.ts'
import { mountEndpoint } from './kit/mount.ts'

export function mountVerifications(app: Api, runVerify: VerifyFingerprints): void {
  mountEndpoint(app, verify, ({ items }, c) =>
    runVerify({
      tenant: c.get('tenant'),
      person: c.get('person'),
      address: c.get('address'),
      items
    })
  )
}
