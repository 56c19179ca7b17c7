import { calls } from './calls.ts'
import { reportPolicy } from './csp-reports.ts'
import { deleteUpload, getDepositContent, headUpload, patchUpload, putDeposit } from './deposits.ts'
import { getDocs, getOpenApi } from './docs.ts'
import { getDomainConfig, updateDomain } from './domains.ts'
import type { Endpoint, Stream } from './endpoint.ts'
import { getExport } from './exports.ts'
import { getHealth } from './health.ts'
import { disableUser, enableUser, resendInvitation } from './members.ts'
import { exportRequests, streamRequests } from './requests.ts'

/** All calls with JSON answers. Tests and the API documentation walk this list. */
export const endpoints = {
  ...calls,
  getExport,
  resendInvitation,
  disableUser,
  enableUser,
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
  exportRequests,
  reportPolicy
} satisfies Record<string, Stream>
