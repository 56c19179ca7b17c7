import { randomUUID } from 'node:crypto'
import {
  idempotencyKeyRefusals,
  makeDataSource,
  type RefusalContext,
  type Refusals,
  type RouteCases,
  withBoundsReached
} from '../../helpers/cases.ts'

const settings = () => ({ name: `Diplomas ${randomUUID()}`, position: 3 })

export const rows: RouteCases = {
  listDataSources: {
    input: () => ({ limit: 10, q: 'data', sort: '-created' }),
    ids: { id: 'company', cursor: 'data source', category: 'company category' },
    filters: ['category'],
    shared: true
  },
  createDataSource: { input: settings },
  getDataSource: { ids: { id: 'data source' }, shared: true },
  updateDataSource: {
    input: () => ({ ...settings(), labels: [] }),
    ids: { id: 'data source' },
    shared: true
  },
  deleteDataSource: { ids: { id: 'data source' }, shared: true, spends: 'data source' },
  listRegisterVersions: {
    input: () => ({ limit: 10 }),
    ids: { id: 'data source' },
    shared: true
  },
  listOfferedSources: {}
}

/** Returns functions that each provoke one error code of a call: `'createDataSource name_taken'`. */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ada, ask } = stage
  const newSource = (name?: string) => makeDataSource(app.owner, ada.company, name)

  return {
    'createDataSource name_taken': async () => {
      await newSource('Diplômes')
      return ask('createDataSource', { name: 'DIPLOMES' })
    },
    'createDataSource too_many_data_sources': () =>
      withBoundsReached(app, () => ask('createDataSource', { name: 'One more' })),
    ...idempotencyKeyRefusals(stage, 'createDataSource', 'POST /data_source', (headers, name) =>
      ask('createDataSource', { name }, headers)
    ),
    'updateDataSource changed_meanwhile': async () =>
      ask('updateDataSource', { id: await newSource(), position: 1 }, { 'if-match': '"999"' }),
    'updateDataSource name_taken': async () => {
      await newSource('Invoices')
      return ask('updateDataSource', { id: await newSource(), name: 'invoices' })
    },
    'deleteDataSource changed_meanwhile': async () =>
      ask('deleteDataSource', { id: await newSource() }, { 'if-match': '"999"' }),
    'deleteDataSource in_use': async () => {
      const id = await newSource()
      await ask('updateCategory', { id: ada.category, data_sources: [id] })
      return ask('deleteDataSource', { id })
    }
  }
}
