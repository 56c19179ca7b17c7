import { listOfferedSources, verify } from '../../contract/verifications.ts'
import * as verifications from '../domain/deposits/verifications.ts'
import type { Api } from './kit/context.ts'
import { mountEndpoint } from './kit/mount.ts'

export function mountVerifications(app: Api, runVerify: verifications.VerifyItems): void {
  mountEndpoint(app, verify, ({ items }, c) =>
    runVerify({
      tenant: c.get('tenant'),
      person: c.get('person'),
      address: c.get('address'),
      items
    })
  )

  mountEndpoint(app, listOfferedSources, (_input, c) =>
    verifications.listOfferedSources(c.get('deps'), c.get('tenant'), c.get('person'))
  )
}
