import { createOperator, getDemo, getSetup } from '../../contract/setup.ts'
import { demoAccount } from '../domain/demo-account.ts'
import * as setup from '../domain/installation/setup.ts'
import { type Api, isFromDeveloper } from './context.ts'
import { on } from './on.ts'
import { canonical } from './users.ts'

export function mountSetup(app: Api): void {
  on(app, getSetup, (_input, c) =>
    setup.getSetup(c.get('deps'), c.get('tenant'), isFromDeveloper(c))
  )

  on(app, getDemo, async (_input, c) =>
    c.get('tenant').config.demo && isFromDeveloper(c) ? { account: demoAccount } : {}
  )

  on(app, createOperator, ({ email, ...input }, c) =>
    setup.createOperator(c.get('deps'), {
      ...input,
      tenant: c.get('tenant'),
      email: canonical(email),
      address: c.get('address')
    })
  )
}
