import type { RouteCases } from '../../helpers/cases.ts'

const filter = {
  locale: 'fr',
  action: 'user.invite',
  from: '2020-01-01T00:00:00Z',
  to: '2100-01-01T00:00:00+01:00'
}

export const rows: RouteCases = {
  listAuditEntries: {
    input: () => ({ limit: 10, ...filter }),
    ids: { id: 'company', cursor: 'audit entry', actor: 'member', person: 'member', target: 'member' },
    filters: ['actor', 'person', 'target'],
    shared: true
  },
  exportAuditEntries: {
    input: () => filter,
    ids: { id: 'company', actor: 'member', person: 'member', target: 'member' },
    filters: ['actor', 'person', 'target'],
    shared: true
  }
}
