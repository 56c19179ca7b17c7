import { accountCalls } from './accounts.ts'
import { categoryCalls } from './categories.ts'
import { depositCalls } from './deposits.ts'
import { exportCalls } from './exports.ts'
import { requestCalls } from './requests.ts'
import { sessionCalls } from './sessions.ts'
import { setupCalls } from './setup.ts'
import { userCalls } from './users.ts'
import { verificationCalls } from './verifications.ts'

// without `adminCalls`, so that other pages do not load those
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
