import {
  activateUser,
  changeEmail,
  confirmEmail,
  deleteUser,
  readLink,
  requestReset,
  resetKey,
  sendVerification,
  verifyEmail
} from './accounts.ts'
import { listCategories } from './categories.ts'
import { createContentLink, createDeposit, getDeposit, getOpenUpload } from './deposits.ts'
import { getExport } from './exports.ts'
import { getRequest, listRequests } from './requests.ts'
import { endSession, getChallenge, listSessions, logIn, logOut } from './sessions.ts'
import { createOperator, getDemo, getSetup } from './setup.ts'
import { changeKey, createUser, getUser, updateUser } from './users.ts'
import { verify } from './verifications.ts'

/** The endpoints that pages call. Browsers load only these. */
export const calls = {
  getUser,
  updateUser,
  createUser,
  changeKey,
  readLink,
  verifyEmail,
  sendVerification,
  activateUser,
  requestReset,
  resetKey,
  changeEmail,
  confirmEmail,
  deleteUser,
  getExport,
  getChallenge,
  logIn,
  logOut,
  listSessions,
  endSession,
  listCategories,
  createDeposit,
  createContentLink,
  getDeposit,
  getOpenUpload,
  listRequests,
  getRequest,
  verify,
  getSetup,
  getDemo,
  createOperator
}
