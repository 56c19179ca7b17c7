import {
  activateUser,
  checkMailLink,
  confirmEmailChange,
  deleteOwnAccount,
  requestEmailChange,
  requestPasswordReset,
  resendOwnVerifyLink,
  resetPassword,
  verifyEmail
} from '../../contract/accounts.ts'
import type { LinkDelivery } from '../../contract/users.ts'
import * as deletions from '../domain/accounts/deletions.ts'
import * as emailChanges from '../domain/accounts/email-changes.ts'
import * as invitations from '../domain/accounts/invitations.ts'
import * as passwords from '../domain/accounts/passwords.ts'
import * as signUps from '../domain/accounts/signups.ts'
import { chooseMailLinkDelivery } from '../domain/developer-machine.ts'
import { runWithFailureLimits } from '../domain/limits/rate-limits.ts'
import * as mailTokens from '../domain/mail/mail-tokens.ts'
import {
  type Api,
  type ApiContext,
  authenticatedCaller,
  hostCompanyId,
  isFromDeveloperMachine
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

  mountEndpoint(app, resendOwnVerifyLink, async (_input, c) => {
    await signUps.resendOwnVerifyLink(c.get('deps'), {
      ...tenantAndAddress(c),
      person: authenticatedCaller(c)
    })
    return deliveryOf(c)
  })

  mountEndpoint(app, activateUser, (input, c) =>
    runWithMailedToken(c, () =>
      invitations.activateUser(c.get('deps'), { tenant: c.get('tenant'), ...input })
    )
  )

  mountEndpoint(app, requestPasswordReset, async ({ email }, c) => {
    await passwords.requestPasswordReset(c.get('deps'), {
      ...tenantAndAddress(c),
      email: canonicalizeEmail(email)
    })
    return deliveryOf(c)
  })

  mountEndpoint(app, resetPassword, (input, c) =>
    runWithMailedToken(c, () =>
      passwords.resetPassword(c.get('deps'), { tenant: c.get('tenant'), ...input })
    )
  )

  mountEndpoint(app, requestEmailChange, async ({ email, ...proofs }, c) => {
    const asked = {
      ...tenantAndAddress(c),
      person: authenticatedCaller(c),
      email: canonicalizeEmail(email)
    }
    await emailChanges.requestEmailChange(c.get('deps'), { ...asked, ...proofs })
    return deliveryOf(c)
  })

  mountEndpoint(app, confirmEmailChange, ({ token }, c) =>
    runWithMailedToken(c, () =>
      emailChanges.confirmEmailChange(c.get('deps'), { person: authenticatedCaller(c), token })
    )
  )

  mountEndpoint(app, deleteOwnAccount, ({ challenge_response, company }, c) =>
    deletions.deleteOwnAccount(c.get('deps'), {
      tenant: c.get('tenant'),
      person: authenticatedCaller(c),
      challenge_response,
      company
    })
  )
}

function tenantAndAddress(c: ApiContext) {
  return { tenant: c.get('tenant'), address: c.get('address') }
}

// the same for every e-mail address, so that it does not reveal which accounts exist
function deliveryOf(c: ApiContext): { delivery: LinkDelivery } {
  return { delivery: chooseMailLinkDelivery(c.get('deps').settings, isFromDeveloperMachine(c)) }
}

// a failure counts toward the limit of the caller's network address
function runWithMailedToken<T>(c: ApiContext, run: () => Promise<T>): Promise<T> {
  const { tenant, address } = tenantAndAddress(c)
  const limit = ['mail_token_address', [tenant.company_id, { address }]] as const
  return runWithFailureLimits(c.get('deps'), [limit], run)
}
