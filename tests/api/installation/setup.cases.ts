import { createSetupCode } from '../../../src/server/domain/installation/setup.ts'
import type { TestApp } from '../../helpers/app.ts'
import type { RefusalContext, Refusals, RouteCases } from '../../helpers/cases.ts'
import { signUp, signUpInput } from '../accounts/users.cases.ts'

export const rows: RouteCases = {
  getSetup: { input: reopenSetup },
  getDemoAccount: { input: () => ({}) },
  createFirstOperator: { input: operatorInput }
}

/** Returns functions that each provoke one error code of a call of the setup. */
export function refusals({ app, ask, inputOf }: RefusalContext): Refusals {
  return {
    'createFirstOperator setup_code_wrong': async () =>
      ask('createFirstOperator', { ...(await inputOf('createFirstOperator')), code: 'wrong' }, {}),
    'createFirstOperator setup_code_expired': async () => {
      const { code, ...person } = await inputOf('createFirstOperator')
      await app.owner.query(`update setup_code set created_at = created_at - interval '25 hours'`)
      return ask('createFirstOperator', { ...person, code }, {})
    },
    'createFirstOperator email_taken': async () => {
      const input = await inputOf('createFirstOperator')
      await signUp(app, 'acme.localhost', { email: String(input['email']) })
      return ask('createFirstOperator', input, {})
    },
    'createFirstOperator challenge_invalid': async () => {
      const input = await inputOf('createFirstOperator')
      app.wait(180)
      return ask('createFirstOperator', input, {})
    },
    'createFirstOperator key_invalid': async () =>
      ask(
        'createFirstOperator',
        { ...(await inputOf('createFirstOperator')), public_key_jwt: 'x' },
        {}
      )
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
