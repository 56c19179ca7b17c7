import { randomUUID } from 'node:crypto'
import {
  confirmSessions,
  type Refusals,
  type RouteCases,
  type Stage,
  whileKeyInUse
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
    input: () => ({ reason: 'payment' }),
    ids: { id: 'company' },
    shared: true,
    ownRefusal: 'own_company',
    spends: 'suspension'
  },
  resumeCompany: { ids: { id: 'company' }, shared: true, spends: 'suspension' },
  updateCompany: { input: () => ({ name: 'Renamed' }), ids: { id: 'company' }, shared: true }
}

/** How each code that a call lists comes about. */
export function refusals({ app, ada, ask }: Stage): Refusals {
  const id = app.companies['acme.localhost']
  const create = async (changes = {}, key: string = randomUUID()) => {
    await confirmSessions(app)
    const input = { name: 'Acme', host: 'docs.acme.fr', email: 'ada@acme.fr', ...changes }
    return ask('createCompany', input, { 'idempotency-key': key })
  }
  return {
    'createCompany confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      return ask('createCompany', { name: 'Acme', host: 'docs.acme.fr', email: 'ada@acme.fr' })
    },
    'createCompany host_not_allowed': () => create({ host: 'co.uk' }),
    'createCompany host_taken': () => create({ host: 'beta.localhost' }),
    'createCompany idempotency_in_flight': () =>
      whileKeyInUse(app, ada.id, 'POST /company', key => create({}, key)),
    'createCompany idempotency_key_reused': async () => {
      const key = randomUUID()
      await create({ host: 'one.acme.fr' }, key)
      return create({ host: 'two.acme.fr' }, key)
    },
    'suspendCompany own_company': () => ask('suspendCompany', { id, reason: 'payment' }),
    'updateCompany changed_meanwhile': () =>
      ask('updateCompany', { id, name: 'Late' }, { 'if-match': '"999"' })
  }
}
