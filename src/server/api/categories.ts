import { listCategories } from '../../contract/categories.ts'
import * as categories from '../domain/companies/categories.ts'
import { type Api, companyOf, person } from './context.ts'
import { mountEndpoint } from './mount.ts'

export function mountCategories(app: Api): void {
  mountEndpoint(app, listCategories, (_input, c) =>
    categories.listCategories(c.get('deps'), { company_id: companyOf(c), user_id: person(c).id })
  )
}
