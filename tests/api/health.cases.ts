import type { RouteCases } from '../helpers/cases.ts'

export const rows: RouteCases = {
  getHealth: {}
}
