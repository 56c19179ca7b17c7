import { verify } from '../../contract/verifications.ts'
import * as verifications from '../domain/deposits/verifications.ts'
import type { Api } from './context.ts'
import { on } from './on.ts'

export function mountVerifications(app: Api): void {
  on(app, verify, ({ items }, c) =>
    verifications.verify(c.get('deps'), {
      tenant: c.get('tenant'),
      person: c.get('person'),
      address: c.get('address'),
      items
    })
  )
}
