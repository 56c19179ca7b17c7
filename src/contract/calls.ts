import { accountCalls } from './accounts.ts'
import { categoryCalls } from './categories.ts'
import { depositCalls } from './deposits.ts'
import { exportCalls } from './exports.ts'
import { requestCalls } from './requests.ts'
import { sessionCalls } from './sessions.ts'
import { setupCalls } from './setup.ts'
import { userCalls } from './users.ts'
import { verificationCalls } from './verifications.ts'

/** The endpoints that pages call, noun by noun. Browsers load only these. */
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
