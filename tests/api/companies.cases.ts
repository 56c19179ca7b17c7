import type { Rows } from '../helpers/cases.ts'

export const rows: Rows = { getCompany: { ids: { id: 'company' }, shared: true } }
