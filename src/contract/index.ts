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
import { getExport } from './exports.ts'
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
  getChallenge,
  logIn,
  logOut,
  listSessions,
  endSession,
  getExport,
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
