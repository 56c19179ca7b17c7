import type { RouteCases } from '../../helpers/cases.ts'

export const rows: RouteCases = {
  listDataSources: {
    input: () => ({ limit: 10, sort: '-created' }),
    ids: { id: 'company', cursor: 'data source' },
    shared: true
  },
  getDataSource: { ids: { id: 'data source' }, shared: true }
}
