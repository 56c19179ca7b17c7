import { randomUUID } from 'node:crypto'
import {
  confirmSessions,
  idempotencyKeyRefusals,
  type RefusalContext,
  type Refusals,
  type RouteCases
} from '../../helpers/cases.ts'

export const rows: RouteCases = {
  listCompanies: {
    input: () => ({ limit: 10, q: 'e', sort: '-created', state: 'active' }),
    ids: { cursor: 'company' },
    shared: true
  },
  createCompany: {
    reachesOthers: true,
    input: async app => {
      await confirmSessions(app)
      return {
        name: 'Acme',
        host: `${randomUUID().slice(0, 8)}.example.com`,
        email: `${randomUUID()}@example.com`,
        locale: 'fr'
      }
    }
  },
  getCompany: { ids: { id: 'company' }, shared: true },
  suspendCompany: {
    input: async app => {
      await confirmSessions(app)
      return { reason: 'payment', verification: 'open' }
    },
    ids: { id: 'company' },
    shared: true,
    ownRefusal: 'own_company',
    spends: 'suspension'
  },
  resumeCompany: { ids: { id: 'company' }, shared: true, spends: 'suspension' },
  updateCompany: { input: () => ({ name: 'Renamed' }), ids: { id: 'company' }, shared: true }
}

/** Returns functions that each provoke one error code of a call, named after call and code. */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ask } = stage
  const id = app.companies['acme.localhost']
  const create = async (changes = {}, headers = {}) => {
    await confirmSessions(app)
    const input = { name: 'Acme', host: 'docs.acme.fr', email: 'ada@acme.fr', ...changes }
    return ask('createCompany', input, headers)
  }
  return {
    'createCompany confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      return ask('createCompany', { name: 'Acme', host: 'docs.acme.fr', email: 'ada@acme.fr' })
    },
    'createCompany host_not_allowed': () => create({ host: 'co.uk' }),
    'createCompany host_taken': () => create({ host: 'beta.localhost' }),
    ...idempotencyKeyRefusals(stage, 'createCompany', 'POST /company', (headers, text) =>
      create({ host: `${text}.acme.fr` }, headers)
    ),
    'suspendCompany confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      return ask('suspendCompany', { id, reason: 'payment' })
    },
    'suspendCompany own_company': async () => {
      await confirmSessions(app)
      return ask('suspendCompany', { id, reason: 'payment' })
    },
    'updateCompany changed_meanwhile': () =>
      ask('updateCompany', { id, name: 'Late' }, { 'if-match': '"999"' })
  }
}
