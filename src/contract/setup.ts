import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { maxCodeUnitsCheck } from './kit/text-checks.ts'
import { Email, Username } from './users.ts'

const DemoAccount = z.object({ email: z.string(), password: z.string() })

/** Tells whether this installation still waits for its first operator. */
export const getSetup = endpoint({
  method: 'GET',
  path: '/setup',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({
    company: z.string(),
    // `account` only on a developer's machine
    demo: z.optional(
      z.object({
        address: z.string(),
        account: z.optional(DemoAccount)
      })
    )
  })
})

/** Returns the demo account: on its own host, and only to browsers on a developer's machine. */
export const getDemoAccount = endpoint({
  method: 'GET',
  path: '/demo',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({ account: z.optional(DemoAccount) })
})

/** Creates the first operator with the installation's one-time code. */
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
  // `kept` also if the removal failed
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
