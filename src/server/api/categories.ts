import { listCategories } from '../../contract/categories.ts'
import {
  createCategory,
  deleteCategory,
  getCategory,
  listCompanyCategories,
  updateCategory
} from '../../contract/company-categories.ts'
import * as categories from '../domain/companies/categories.ts'
import { administeredCompany, callerAndCompany } from './kit/administered-company.ts'
import { parseIdempotencyKey } from './kit/admission.ts'
import { type Api, companyIdOf, signedInPerson } from './kit/context.ts'
import { mountEndpoint, mountList } from './kit/mount.ts'

export function mountCategories(app: Api): void {
  mountList(app, listCompanyCategories, ({ id: _, ...page }, c) =>
    categories.listCompanyCategories(c.get('deps'), { company_id: administeredCompany(c), ...page })
  )

  mountEndpoint(app, listCategories, (_input, c) =>
    categories.listCategories(c.get('deps'), {
      company_id: companyIdOf(c),
      user_id: signedInPerson(c).id
    })
  )

  mountEndpoint(app, createCategory, async (settings, c) => {
    const key = parseIdempotencyKey(c.req.header('idempotency-key'))
    const { body, replayed } = await categories.createCategory(c.get('deps'), {
      ...callerAndCompany(c),
      ...settings,
      idempotencyKey: key
    })
    if (replayed) c.header('idempotent-replayed', 'true')
    return body
  })

  mountEndpoint(app, getCategory, ({ id }, c) =>
    categories.getCategory(c.get('deps'), { company_id: administeredCompany(c), id })
  )

  mountEndpoint(app, updateCategory, (input, c) =>
    categories.updateCategory(c.get('deps'), {
      ...callerAndCompany(c),
      ...input,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, deleteCategory, ({ id }, c) =>
    categories.deleteCategory(c.get('deps'), {
      ...callerAndCompany(c),
      id,
      version: c.get('expectedVersion')
    })
  )
}
