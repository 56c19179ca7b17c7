import { getDataSource, listDataSources } from '../../contract/data-sources.ts'
import * as dataSources from '../domain/companies/data-sources.ts'
import type { Api } from './kit/context.ts'
import { mountAdminEndpoint, mountAdminList } from './kit/mount-admin.ts'

export function mountDataSources(app: Api): void {
  mountAdminList(app, listDataSources, dataSources.listDataSources)
  mountAdminEndpoint(app, getDataSource, dataSources.getDataSource)
}
