import { AppError } from '../../contract/errors.ts'
import { changeKey, createUser, getUser, updateUser } from '../../contract/users.ts'
import { canonicalEmail } from '../../core/email.ts'
import * as userKeys from '../domain/user-keys.ts'
import * as users from '../domain/users.ts'
import { idempotencyKey } from './admission.ts'
import { type Api, person } from './context.ts'
import { on } from './on.ts'

export function mountUsers(app: Api): void {
  on(app, createUser, async ({ email, username, public_key_jwt, locale }, c) => {
    const { body, replayed } = await users.createUser(c.get('deps'), {
      tenant: c.get('tenant'),
      email: canonical(email),
      username,
      public_key_jwt,
      locale,
      address: c.get('address'),
      idempotencyKey: idempotencyKey(c.req.header('idempotency-key'))
    })
    if (replayed) c.header('idempotent-replayed', 'true')
    return body
  })

  on(app, getUser, (_input, c) =>
    users.getUser(c.get('deps'), { tenant: c.get('tenant'), person: person(c) })
  )

  on(app, updateUser, (changes, c) =>
    users.updateUser(c.get('deps'), { tenant: c.get('tenant'), person: person(c), ...changes })
  )

  on(app, changeKey, (proofs, c) =>
    userKeys.changeKey(c.get('deps'), { tenant: c.get('tenant'), person: person(c), ...proofs })
  )
}

/** The contract's `Email` accepts only what has a canonical form. */
export function canonical(email: string): string {
  const found = canonicalEmail(email)
  if (found === undefined) throw new AppError('invalid_input', 'The e-mail has no canonical form')
  return found
}
