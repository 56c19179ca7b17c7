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
 * The API calls of all pages except the administration, merged from one file for each resource.
 * Pages of people who are not administrators load only these definitions.
 */
export const calls = {
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
