import type { RouteCases } from '../../helpers/cases.ts'

export const rows: RouteCases = {
  getUsageByDay: {
    input: () => ({ from: '2026-01-01', to: '2026-03-01' }),
    ids: { id: 'company', group: 'group' },
    shared: true
  },
  getAttention: { ids: { id: 'company' }, shared: true },
  getAttentionOfAllCompanies: { shared: true }
}
