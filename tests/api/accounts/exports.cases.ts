import type { Rows } from '../../helpers/cases.ts'

export const rows: Rows = {
  exportOwnData: { ids: { cursor: 'request' } }
}
