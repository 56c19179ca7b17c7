import {
  activateUser,
  changeEmail,
  confirmEmail,
  deleteUser,
  requestReset,
  resetKey,
  sendVerification,
  verifyEmail
} from './accounts.ts'
import { listCategories } from './categories.ts'
import {
  createContentLink,
  createDeposit,
  deleteUpload,
  getDeposit,
  getDepositContent,
  headUpload,
  patchUpload,
  putDeposit
} from './deposits.ts'
import { getDocs, getOpenApi } from './docs.ts'
import { getDomainConfig, updateDomain } from './domains.ts'
import type { Endpoint, Stream } from './endpoint.ts'
import { disableUser, enableUser, resendInvitation } from './members.ts'
import { reportPolicy } from './reports.ts'
import { getRequest, listRequests, streamRequests } from './requests.ts'
import { getHealth } from './service.ts'
import { endSession, getChallenge, listSessions, logIn, logOut } from './sessions.ts'
import { createOperator, getSetup } from './setup.ts'
import { changeKey, createUser, getUser, updateUser } from './users.ts'
import { verify } from './verifications.ts'

/** Everything the product can do over HTTP. Guard tests and the API documentation walk this list. */
export const endpoints = {
  getUser,
  updateUser,
  createUser,
  changeKey,
  verifyEmail,
  sendVerification,
  activateUser,
  requestReset,
  resetKey,
  changeEmail,
  confirmEmail,
  deleteUser,
  resendInvitation,
  disableUser,
  enableUser,
  getChallenge,
  logIn,
  logOut,
  listSessions,
  endSession,
  listCategories,
  createDeposit,
  getDeposit,
  createContentLink,
  listRequests,
  getRequest,
  verify,
  getSetup,
  createOperator,
  getHealth,
  getOpenApi,
  updateDomain,
  getDomainConfig
} satisfies Record<string, Endpoint>

export const streams = {
  getDocs,
  putDeposit,
  getDepositContent,
  headUpload,
  patchUpload,
  deleteUpload,
  streamRequests,
  reportPolicy
} satisfies Record<string, Stream>
