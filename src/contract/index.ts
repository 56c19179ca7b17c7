import { listCategories } from './categories.ts'
import {
  createDeposit,
  deleteUpload,
  getDeposit,
  getDepositContent,
  headUpload,
  patchUpload
} from './deposits.ts'
import { getDomainConfig } from './domains.ts'
import type { Endpoint, Stream } from './endpoint.ts'
import { getRequest, listRequests, streamRequests } from './requests.ts'
import { getHealth } from './service.ts'
import { getChallenge, logIn, logOut } from './sessions.ts'
import { createUser, getUser, updateUser } from './users.ts'
import { verify } from './verifications.ts'

/** Everything the product can do over HTTP. Guard tests, and later the API documentation, walk this list. */
export const endpoints = {
  getUser,
  updateUser,
  createUser,
  getChallenge,
  logIn,
  logOut,
  listCategories,
  createDeposit,
  getDeposit,
  listRequests,
  getRequest,
  verify,
  getHealth,
  getDomainConfig
} satisfies Record<string, Endpoint>

export const streams = {
  getDepositContent,
  headUpload,
  patchUpload,
  deleteUpload,
  streamRequests
} satisfies Record<string, Stream>
