import {
  createDataSource,
  deleteDataSource,
  getDataSource,
  listDataSources,
  listRegisterVersions,
  updateDataSource
} from '../../contract/data-sources.ts'
import * as dataSources from '../domain/registers/data-sources.ts'
import { administeredCompanyId, callerAndAdministeredCompany } from './kit/administered-company.ts'
import type { Api } from './kit/context.ts'
import { mountIdempotent, mountList } from './kit/mount.ts'
import { mountAdminEndpoint, mountAdminList } from './kit/mount-admin.ts'

export function mountDataSources(app: Api): void {
  mountAdminList(app, listDataSources, dataSources.listDataSources)
  mountAdminEndpoint(app, getDataSource, dataSources.getDataSource)
  mountAdminEndpoint(app, updateDataSource, dataSources.updateDataSource)
  mountAdminEndpoint(app, deleteDataSource, dataSources.deleteDataSource)

  mountIdempotent(app, createDataSource, (settings, c, idempotencyKey) =>
    dataSources.createDataSource(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      ...settings,
      idempotencyKey
    })
  )

  mountList(app, listRegisterVersions, (input, c) =>
    dataSources.listRegisterVersions(c.get('deps'), {
      ...input,
      company_id: administeredCompanyId(c)
    })
  )
}
