import type { ProcessedRequest } from '../../../contract/requests.ts'
import type { Session } from '../../../contract/sessions.ts'
import type { OwnAccount } from '../../../contract/users.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { Deps, Tenant } from '../deps.ts'
import { readRequests } from '../history/requests.ts'
import { type AuthenticatedCaller, readPersonSessions } from '../sessions/sessions.ts'
import { readOwnAccount } from './users.ts'

const pageLength = 200
const maxSessions = 100

export async function exportOwnData(
  deps: Pick<Deps, 'db' | 'clock'>,
  {
    tenant,
    person,
    cursor
  }: { tenant: Tenant; person: AuthenticatedCaller; cursor?: string | undefined }
): Promise<{
  account: OwnAccount
  sessions: Session[]
  requests: ProcessedRequest[]
  complete: boolean
}> {
  const { company_id, id: user_id } = person
  const read = async (tx: Tx) => {
    const account = await readOwnAccount(tx, deps, tenant, person)
    const { items: sessions } = await readPersonSessions(tx, deps, person, { limit: maxSessions })
    const page = { company_id, user_id, cursor, limit: pageLength }
    const { items: requests, next } = await readRequests(tx, page)
    return { account, sessions, requests, complete: next === undefined }
  }
  return inCompany(deps.db, company_id, read)
}
