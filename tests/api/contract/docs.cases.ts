import type { RouteCases } from '../../helpers/cases.ts'

export const rows: RouteCases = {
  getOpenApi: {},
  redirectToApiDocs: { status: 302 }
}
