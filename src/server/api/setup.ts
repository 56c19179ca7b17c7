import { createFirstOperator, getDemoAccount, getSetup } from '../../contract/setup.ts'
import { demoAccount } from '../domain/demo-account.ts'
import * as setup from '../domain/installation/setup.ts'
import { type Api, isFromDeveloperMachine } from './kit/context.ts'
import { mountEndpoint } from './kit/mount.ts'
import { canonicalizeEmail } from './users.ts'

export function mountSetup(app: Api): void {
  mountEndpoint(app, getSetup, (_input, c) =>
    setup.getSetup(c.get('deps'), c.get('tenant'), isFromDeveloperMachine(c))
  )

  mountEndpoint(app, getDemoAccount, async (_input, c) =>
    c.get('tenant').config.demo && isFromDeveloperMachine(c) ? { account: demoAccount } : {}
  )

  mountEndpoint(app, createFirstOperator, ({ email, ...input }, c) =>
    setup.createFirstOperator(c.get('deps'), {
      ...input,
      tenant: c.get('tenant'),
      email: canonicalizeEmail(email),
      address: c.get('address')
    })
  )
}
