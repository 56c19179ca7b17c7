import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { maxCodeUnits } from './text-checks.ts'
import { Email, Username } from './users.ts'

/** 1 to 80 characters of one visible line, like a username. */
export const CompanyName = Username

const DemoAccount = z.object({ email: z.string(), password: z.string() })

/** Works only until the first operator exists, and only on the host of the installation's own company. */
export const getSetup = endpoint({
  method: 'GET',
  path: '/setup',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({
    company: z.string(),
    /** The demonstration, if it exists: its address, and its account where that may be used. */
    demo: z.optional(
      z.object({
        address: z.string(),
        account: z.optional(DemoAccount)
      })
    )
  })
})

/** Returns the demonstration's account, only on its host and only on a developer's machine. */
export const getDemo = endpoint({
  method: 'GET',
  path: '/demo',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({ account: z.optional(DemoAccount) })
})

/**
 * Creates the first operator. `code` is the one-time code from the server's log, valid for 24 hours.
 * `public_key_jwt` is of purpose `signup`. `company` renames the installation's company.
 */
export const createOperator = endpoint({
  method: 'POST',
  path: '/setup',
  access: 'public',
  input: z.strictObject({
    code: z.string().check(z.minLength(1, { abort: true }), maxCodeUnits(128)),
    email: Email,
    username: Username,
    public_key_jwt: z.string().check(z.maxLength(4096)),
    company: CompanyName,
    demo: z.enum(['keep', 'remove']),
    locale: z.optional(z.enum(['en', 'fr']))
  }),
  /** `demo` tells what became of the demonstration. `kept` despite `remove` means that removing it failed. */
  output: z.object({ id: z.uuid(), demo: z.enum(['none', 'kept', 'removed']) }),
  errors: [
    'setup_code_wrong',
    'setup_code_expired',
    'email_taken',
    'challenge_invalid',
    'key_invalid'
  ]
})
