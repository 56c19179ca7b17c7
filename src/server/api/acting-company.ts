import { AppError } from '../../contract/errors.ts'
import type { CompanyId } from '../domain/deps.ts'
import { type ApiContext, person } from './context.ts'

/**
 * Returns the company in which an administrator's call works: always the administrator's own.
 * Throws `not_found` when the path contains the id of another company.
 */
export function actingCompany(c: ApiContext): CompanyId {
  const { company_id } = person(c)
  const named = c.get('route')?.startsWith('/company/{id}') ? c.req.param('id') : company_id
  if (named?.toLowerCase() === company_id) return company_id
  throw new AppError('not_found', 'No such company')
}
