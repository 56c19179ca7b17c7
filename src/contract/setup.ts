import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { longest } from './text-checks.ts'
import { Email, Username } from './users.ts'

/** As a person's name: 1 to 80 characters of one visible line. */
export const CompanyName = Username

const DemoAccount = z.object({ email: z.string(), password: z.string() })

/** Answers only until the first operator exists, and only on the host of the installation's own company. */
export const getSetup = endpoint({
  method: 'GET',
  path: '/setup',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({
    company: z.string(),
    /** The demonstration, where there is one: its address, and its account where that is usable. */
    demo: z.optional(
      z.object({
        address: z.string(),
        account: z.optional(DemoAccount)
      })
    )
  })
})

/** The demonstration's account, on its own host and for browsers on a developer's machine; elsewhere none. */
export const getDemo = endpoint({
  method: 'GET',
  path: '/demo',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({ account: z.optional(DemoAccount) })
})

/**
 * Makes the first operator. `code` is the one-time code of the server's log, which holds for 24 hours; `public_key_jwt` is that
 * of a sign-up. `company` renames the installation's company.
 */
export const createOperator = endpoint({
  method: 'POST',
  path: '/setup',
  access: 'public',
  input: z.strictObject({
    code: z.string().check(z.minLength(1, { abort: true }), longest(128)),
    email: Email,
    username: Username,
    public_key_jwt: z.string().check(z.maxLength(4096)),
    company: CompanyName,
    demo: z.enum(['keep', 'remove']),
    locale: z.optional(z.enum(['en', 'fr']))
  }),
  /** `demo` is what has become of the demonstration; `kept` against the wish means that removing it failed. */
  output: z.object({ id: z.uuid(), demo: z.enum(['none', 'kept', 'removed']) }),
  errors: [
    'setup_code_wrong',
    'setup_code_expired',
    'email_taken',
    'challenge_invalid',
    'key_invalid'
  ]
})
