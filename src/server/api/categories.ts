import { listCategories, listCompanyCategories } from '../../contract/categories.ts'
import * as categories from '../domain/companies/categories.ts'
import { actingCompany } from './acting-company.ts'
import { type Api, companyIdOf, person } from './context.ts'
import { mountEndpoint, mountList } from './mount.ts'

export function mountCategories(app: Api): void {
  mountList(app, listCompanyCategories, ({ id: _, ...page }, c) =>
    categories.listCompanyCategories(c.get('deps'), { company_id: actingCompany(c), ...page })
  )

  mountEndpoint(app, listCategories, (_input, c) =>
    categories.listCategories(c.get('deps'), { company_id: companyIdOf(c), user_id: person(c).id })
  )
}
