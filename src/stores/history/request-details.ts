import type { Deposit } from '../../contract/deposits.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { api } from '../sessions.ts'
import { findRequest } from './requests.ts'

export interface RequestDetails {
  request: ProcessedRequest
  /** Of a recorded deposit. */
  deposit?: Deposit
}

/** All that is known of one request: from the list where it is there, and of the record. */
export async function loadDetails(id: string): Promise<RequestDetails> {
  const request = findRequest(id) ?? (await api('getRequest', { id }))
  if (request.kind !== 'deposit' || request.state !== 'done' || !request.deposit_id) {
    return { request }
  }
  return { request, deposit: await api('getDeposit', { id: request.deposit_id }) }
}
