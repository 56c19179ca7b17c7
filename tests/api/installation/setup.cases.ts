import { createSetupCode } from '../../../src/server/domain/installation/setup.ts'
import type { TestApp } from '../../helpers/app.ts'
import type { RefusalContext, Refusals, RouteCases } from '../../helpers/cases.ts'
import { signUp, signUpInput } from '../accounts/users.cases.ts'

export const rows: RouteCases = {
  getSetup: { input: reopenSetup },
  getDemoAccount: { input: () => ({}) },
  createOperator: { input: operatorInput }
}

/** Returns functions that each provoke one error code of a call of the setup. */
export function refusals({ app, ask, inputOf }: RefusalContext): Refusals {
  return {
    'createOperator setup_code_wrong': async () =>
      ask('createOperator', { ...(await inputOf('createOperator')), code: 'wrong' }, {}),
    'createOperator setup_code_expired': async () => {
      const { code, ...person } = await inputOf('createOperator')
      await app.owner.query(`update setup_code set created_at = created_at - interval '25 hours'`)
      return ask('createOperator', { ...person, code }, {})
    },
    'createOperator email_taken': async () => {
      const input = await inputOf('createOperator')
      await signUp(app, 'acme.localhost', { email: String(input['email']) })
      return ask('createOperator', input, {})
    },
    'createOperator challenge_invalid': async () => {
      const input = await inputOf('createOperator')
      app.wait(180)
      return ask('createOperator', input, {})
    },
    'createOperator key_invalid': async () =>
      ask('createOperator', { ...(await inputOf('createOperator')), public_key_jwt: 'x' }, {})
  }
}

/** Makes everybody an ordinary person, so that the setup is open again. */
async function reopenSetup(app: TestApp): Promise<object> {
  await app.owner.query(`update "user" set permissions = '{}' where 'operator' = any (permissions)`)
  return {}
}

async function operatorInput(app: TestApp): Promise<object> {
  await reopenSetup(app)
  const { code } = (await createSetupCode(app.deps)) ?? {}
  return { ...(await signUpInput(app)), code, company: 'Acme', demo: 'keep' }
}
