import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { maxCodeUnitsCheck } from './kit/text-checks.ts'
import { Email, Username } from './users.ts'

const DemoAccount = z.object({ email: z.string(), password: z.string() })

/**
 * Returns what the page for the first setup shows. Works only until the first operator exists, and
 * only on the host of the company that runs the installation.
 */
export const getSetup = endpoint({
  method: 'GET',
  path: '/setup',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({
    company: z.string(),
    /**
     * The demonstration company of the installation, absent if there is none. `address` is the URL
     * of its pages. `account` is present only if the call comes from a developer's machine.
     */
    demo: z.optional(
      z.object({
        address: z.string(),
        account: z.optional(DemoAccount)
      })
    )
  })
})

/**
 * Returns the account of the demonstration company. `account` is present only on the hosts of that
 * company, and only if the call comes from a developer's machine.
 */
export const getDemoAccount = endpoint({
  method: 'GET',
  path: '/demo',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({ account: z.optional(DemoAccount) })
})

/**
 * Creates the first operator of an installation. `code` is the one-time code from the server's log,
 * valid for 24 hours. `public_key_jwt` must have the purpose `signup`. `company` becomes the name
 * of the company that runs the installation.
 */
export const createFirstOperator = endpoint({
  method: 'POST',
  path: '/setup',
  access: 'public',
  input: z.strictObject({
    code: z.string().check(z.minLength(1, { abort: true }), maxCodeUnitsCheck(128)),
    email: Email,
    username: Username,
    public_key_jwt: z.string().check(z.maxLength(4096)),
    // a company's name has the same rules as a person's name
    company: Username,
    demo: z.enum(['keep', 'remove']),
    locale: z.optional(z.enum(['en', 'fr']))
  }),
  /**
   * The new operator's id, and what happened to the demonstration company (`demo`). `none`: there
   * is no such company. `kept`: it stays, because the input said so or because its removal failed.
   */
  output: z.object({ id: z.uuid(), demo: z.enum(['none', 'kept', 'removed']) }),
  errors: [
    'setup_code_wrong',
    'setup_code_expired',
    'email_taken',
    'challenge_invalid',
    'key_invalid'
  ]
})

export const setupCalls = { getSetup, getDemoAccount, createFirstOperator }
