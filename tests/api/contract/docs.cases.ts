import type { Rows } from '../../helpers/cases.ts'

export const rows: Rows = {
  getOpenApi: {},
  getDocs: { status: 302 }
}
