import type { Rows } from '../helpers/cases.ts'

export const rows: Rows = {
  listCategories: {},
  listCompanyCategories: {
    input: () => ({ limit: 10, q: 'documents', sort: '-created' }),
    ids: { id: 'company', cursor: 'company category', group: 'group' },
    shared: true
  }
}
