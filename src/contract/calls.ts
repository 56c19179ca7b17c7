import { accountCalls } from './accounts.ts'
import { categoryCalls } from './categories.ts'
import { depositCalls } from './deposits.ts'
import { exportCalls } from './exports.ts'
import { requestCalls } from './requests.ts'
import { sessionCalls } from './sessions.ts'
import { setupCalls } from './setup.ts'
import { userCalls } from './users.ts'
import { verificationCalls } from './verifications.ts'

/**
 * The API calls that pages outside the administration make. The calls of the administration are in
 * `adminCalls`, so that other pages do not load them.
 */
export const nonAdminCalls = {
  ...userCalls,
  ...accountCalls,
  ...exportCalls,
  ...sessionCalls,
  ...categoryCalls,
  ...depositCalls,
  ...requestCalls,
  ...verificationCalls,
  ...setupCalls
}
