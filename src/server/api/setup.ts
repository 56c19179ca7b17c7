import { createOperator, getSetup } from '../../contract/setup.ts'
import * as setup from '../domain/setup.ts'
import type { Api } from './context.ts'
import { on } from './on.ts'
import { canonical } from './users.ts'

export function mountSetup(app: Api): void {
  on(app, getSetup, (_input, c) => setup.getSetup(c.get('deps'), c.get('tenant')))

  on(app, createOperator, ({ email, ...input }, c) =>
    setup.createOperator(c.get('deps'), {
      ...input,
      tenant: c.get('tenant'),
      email: canonical(email),
      address: c.get('address')
    })
  )
}
