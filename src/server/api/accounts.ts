import {
  activateUser,
  changeEmail,
  checkMailLink,
  confirmEmail,
  deleteUser,
  requestReset,
  resetPassword,
  sendVerification,
  verifyEmail
} from '../../contract/accounts.ts'
import type { LinkDelivery } from '../../contract/users.ts'
import * as deletions from '../domain/accounts/deletions.ts'
import * as emailChanges from '../domain/accounts/email-changes.ts'
import * as invitations from '../domain/accounts/invitations.ts'
import * as resets from '../domain/accounts/password-resets.ts'
import * as signUps from '../domain/accounts/signups.ts'
import { chooseMailLinkDelivery } from '../domain/developer-machine.ts'
import { runWithMailTokenLimit } from '../domain/limits/rate-limits.ts'
import * as mailTokens from '../domain/mail/mail-tokens.ts'
import {
  type Api,
  type ApiContext,
  hostCompanyId,
  isFromDeveloperMachine,
  signedInPerson
} from './kit/context.ts'
import { mountEndpoint } from './kit/mount.ts'
import { canonicalizeEmail } from './users.ts'

export function mountAccounts(app: Api): void {
  mountEndpoint(app, checkMailLink, (input, c) =>
    runWithMailedToken(c, () =>
      mailTokens.checkMailLink(c.get('deps'), { company_id: hostCompanyId(c), ...input })
    )
  )

  mountEndpoint(app, verifyEmail, ({ token, ...chosen }, c) =>
    runWithMailedToken(c, () =>
      signUps.confirmSignUpEmail(c.get('deps'), {
        tenant: c.get('tenant'),
        person: c.get('person'),
        token,
        chosen: 'public_key_jwt' in chosen ? chosen : undefined
      })
    )
  )

  mountEndpoint(app, sendVerification, async (_input, c) => {
    await signUps.sendVerification(c.get('deps'), {
      ...tenantAndAddress(c),
      person: signedInPerson(c)
    })
    return deliveryOf(c)
  })

  mountEndpoint(app, activateUser, (input, c) =>
    runWithMailedToken(c, () =>
      invitations.activateUser(c.get('deps'), { tenant: c.get('tenant'), ...input })
    )
  )

  mountEndpoint(app, requestReset, async ({ email }, c) => {
    await resets.requestReset(c.get('deps'), {
      ...tenantAndAddress(c),
      email: canonicalizeEmail(email)
    })
    return deliveryOf(c)
  })

  mountEndpoint(app, resetPassword, (input, c) =>
    runWithMailedToken(c, () =>
      resets.resetPassword(c.get('deps'), { tenant: c.get('tenant'), ...input })
    )
  )

  mountEndpoint(app, changeEmail, async ({ email, ...proofs }, c) => {
    const asked = {
      ...tenantAndAddress(c),
      person: signedInPerson(c),
      email: canonicalizeEmail(email)
    }
    await emailChanges.changeEmail(c.get('deps'), { ...asked, ...proofs })
    return deliveryOf(c)
  })

  mountEndpoint(app, confirmEmail, ({ token }, c) =>
    runWithMailedToken(c, () =>
      emailChanges.confirmEmail(c.get('deps'), { person: signedInPerson(c), token })
    )
  )

  mountEndpoint(app, deleteUser, ({ challenge_response }, c) =>
    deletions.deleteUser(c.get('deps'), {
      tenant: c.get('tenant'),
      person: signedInPerson(c),
      challenge_response
    })
  )
}

function tenantAndAddress(c: ApiContext) {
  return { tenant: c.get('tenant'), address: c.get('address') }
}

/**
 * Returns how people get the links that the service sends them: by mail, from the folder into which
 * mails are written, or from an administrator. The result is the same for every e-mail address, so
 * it does not reveal which accounts exist.
 */
function deliveryOf(c: ApiContext): { delivery: LinkDelivery } {
  return { delivery: chooseMailLinkDelivery(c.get('deps').settings, isFromDeveloperMachine(c)) }
}

/**
 * Runs `run`, which uses the token of a mailed link, and returns its result. If it fails, counts
 * the failure toward the limit of failures of the caller's network address.
 */
function runWithMailedToken<T>(c: ApiContext, run: () => Promise<T>): Promise<T> {
  return runWithMailTokenLimit(c.get('deps'), tenantAndAddress(c), run)
}
