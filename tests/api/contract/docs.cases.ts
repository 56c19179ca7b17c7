import type { RouteCases } from '../../helpers/cases.ts'

export const rows: RouteCases = {
  getOpenApi: {},
  getDocs: { status: 302 }
}
