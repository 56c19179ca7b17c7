import { AppError } from '../../contract/kit/errors.ts'
import {
  changePassword,
  confirmPassword,
  createUser,
  getOwnAccount,
  updateOwnAccount
} from '../../contract/users.ts'
import { canonicalEmail } from '../../core/input/email.ts'
import * as invitations from '../domain/accounts/invitations.ts'
import * as passwords from '../domain/accounts/passwords.ts'
import * as users from '../domain/accounts/users.ts'
import type { AuthenticatedCaller } from '../domain/sessions/sessions.ts'
import { administeredTenant } from './kit/administered-company.ts'
import { hasAccess } from './kit/admission.ts'
import {
  type Api,
  type ApiContext,
  authenticatedCaller,
  isFromDeveloperMachine
} from './kit/context.ts'
import { mountEndpoint, mountIdempotent } from './kit/mount.ts'

export function mountUsers(app: Api): void {
  mountIdempotent(app, createUser, async (input, c, idempotencyKey) => {
    const asked = {
      email: canonicalizeEmail(input.email),
      locale: input.locale,
      idempotencyKey
    }
    return 'public_key_jwt' in input
      ? users.createUser(c.get('deps'), {
          ...asked,
          tenant: c.get('tenant'),
          username: input.username,
          public_key_jwt: input.public_key_jwt,
          address: c.get('address'),
          isDeveloper: isFromDeveloperMachine(c)
        })
      : invitations.inviteUser(c.get('deps'), {
          ...asked,
          username: input.username,
          group_ids: input.group_ids,
          by: administrator(c),
          tenant: await administeredTenant(c)
        })
  })

  mountEndpoint(app, getOwnAccount, (_input, c) =>
    users.getOwnAccount(c.get('deps'), {
      tenant: c.get('tenant'),
      person: authenticatedCaller(c),
      isDeveloper: isFromDeveloperMachine(c)
    })
  )

  mountEndpoint(app, updateOwnAccount, (changes, c) =>
    users.updateOwnAccount(c.get('deps'), {
      tenant: c.get('tenant'),
      person: authenticatedCaller(c),
      isDeveloper: isFromDeveloperMachine(c),
      ...changes
    })
  )

  mountEndpoint(app, confirmPassword, ({ challenge_response }, c) =>
    passwords.confirmPassword(c.get('deps'), {
      tenant: c.get('tenant'),
      person: authenticatedCaller(c),
      challenge_response
    })
  )

  mountEndpoint(app, changePassword, (proofs, c) =>
    passwords.changePassword(c.get('deps'), {
      tenant: c.get('tenant'),
      person: authenticatedCaller(c),
      ...proofs
    })
  )
}

// the endpoint itself is public, because people who sign up use it too
function administrator(c: ApiContext): AuthenticatedCaller {
  const found = c.get('person')
  if (!found) throw new AppError('unauthenticated', 'Inviting somebody needs a bearer token')
  if (!hasAccess(found, 'admin')) {
    throw new AppError('forbidden', 'Inviting somebody needs the permission admin')
  }
  return found
}

/** Throws `invalid_input` without one. The contract's schemas already refuse such addresses. */
export function canonicalizeEmail(email: string): string {
  const found = canonicalEmail(email)
  if (found === undefined) throw new AppError('invalid_input', 'The e-mail has no canonical form')
  return found
}
