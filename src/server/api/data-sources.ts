import { getDataSource, listDataSources } from '../../contract/data-sources.ts'
import * as dataSources from '../domain/companies/data-sources.ts'
import { administeredCompany } from './kit/administered-company.ts'
import type { Api } from './kit/context.ts'
import { mountEndpoint, mountList } from './kit/mount.ts'

export function mountDataSources(app: Api): void {
  mountList(app, listDataSources, ({ id: _, ...page }, c) =>
    dataSources.listDataSources(c.get('deps'), { company_id: administeredCompany(c), ...page })
  )

  mountEndpoint(app, getDataSource, ({ id }, c) =>
    dataSources.getDataSource(c.get('deps'), { company_id: administeredCompany(c), id })
  )
}
