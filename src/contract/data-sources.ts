import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, sortParameter } from './kit/lists.ts'

export const DataSource = z.object({
  id: z.uuid(),
  version: z.number(),
  name: z.string(),
  created: z.iso.datetime()
})
export type DataSource = z.infer<typeof DataSource>

/**
 * Lists the data sources of a company: registers that verification will also search. None can be
 * created yet.
 */
export const listDataSources = listEndpoint({
  path: '/company/{id}/data_sources',
  access: 'admin',
  item: DataSource,
  input: { id: Id, sort: sortParameter('name', 'created') }
})

/** Shows a data source. */
export const getDataSource = endpoint({
  method: 'GET',
  path: '/data_source/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: DataSource
})

export const dataSourceCalls = { listDataSources, getDataSource }
