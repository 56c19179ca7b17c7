import { listAllowedCategories } from '../../contract/categories.ts'
import {
  createCategory,
  deleteCategory,
  getCategory,
  listCompanyCategories,
  updateCategory
} from '../../contract/company-categories.ts'
import * as categories from '../domain/companies/categories.ts'
import { callerAndAdministeredCompany } from './kit/administered-company.ts'
import { type Api, hostCompanyAndCaller } from './kit/context.ts'
import { mountEndpoint, mountIdempotent } from './kit/mount.ts'
import { mountAdminEndpoint, mountAdminList } from './kit/mount-admin.ts'

export function mountCategories(app: Api): void {
  mountAdminList(app, listCompanyCategories, categories.listCompanyCategories)
  mountAdminEndpoint(app, getCategory, categories.getCategory)
  mountAdminEndpoint(app, updateCategory, categories.updateCategory)
  mountAdminEndpoint(app, deleteCategory, categories.deleteCategory)

  mountEndpoint(app, listAllowedCategories, (_input, c) =>
    categories.listAllowedCategories(c.get('deps'), hostCompanyAndCaller(c))
  )

  mountIdempotent(app, createCategory, (settings, c, idempotencyKey) =>
    categories.createCategory(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      ...settings,
      idempotencyKey
    })
  )
}
