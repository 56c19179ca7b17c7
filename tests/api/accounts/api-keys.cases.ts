import { maxApiKeysPerOwner } from '../../../src/contract/kit/limits.ts'
import type { TestApp } from '../../helpers/app.ts'
import {
  confirmSessions,
  makeApiKey,
  makeWaitingSignUp,
  type RefusalContext,
  type Refusals,
  type RouteCases
} from '../../helpers/cases.ts'

const settings = async (app: TestApp) => {
  await confirmSessions(app)
  return { name: 'Scanner', scopes: ['deposit', 'verify'], expires_in_days: 30 }
}

const renewal = async (app: TestApp) => {
  await confirmSessions(app)
  return { expires_in_days: 30 }
}

export const rows: RouteCases = {
  listApiKeys: { input: () => ({ limit: 10 }), ids: { cursor: 'api key' } },
  createApiKey: { input: settings },
  renewApiKey: { input: renewal, ids: { id: 'api key' } },
  deleteApiKey: { ids: { id: 'api key' }, spends: 'api key' },
  listCompanyApiKeys: {
    input: () => ({ limit: 10 }),
    ids: { id: 'company', cursor: 'company api key' },
    shared: true
  },
  createCompanyApiKey: { input: settings, ids: { id: 'company', group_id: 'group' }, shared: true },
  renewCompanyApiKey: {
    input: renewal,
    ids: { id: 'company', keyId: 'company api key' },
    shared: true
  },
  listUserApiKeys: {
    input: () => ({ limit: 10 }),
    ids: { id: 'key owner', cursor: 'api key' },
    shared: true
  },
  deleteUserApiKey: { ids: { id: 'key owner', keyId: 'api key' }, shared: true, spends: 'api key' },
  deleteCompanyApiKey: {
    ids: { id: 'company', keyId: 'company api key' },
    spends: 'company api key',
    shared: true
  }
}

/** Returns functions that each provoke one error code of a call, named after call and code. */
export function refusals({ app, ada, ask }: RefusalContext): Refusals {
  const id = app.companies[ada.host] ?? ''
  const ofCompany = async () => {
    const { rows: groups } = await app.owner.query(
      'select id from "group" where company_id = $1 and is_default',
      [id]
    )
    return { id, group_id: groups[0].id }
  }
  const unconfirmed = async (name: 'createApiKey' | 'createCompanyApiKey', more: object = {}) => {
    const input = await settings(app)
    await app.owner.query('update session set confirmed_until = null')
    return ask(name, { ...input, ...more })
  }
  const full = async (name: 'createApiKey' | 'createCompanyApiKey', more: object = {}) => {
    const isCompanys = name === 'createCompanyApiKey'
    for (let made = 0; made < maxApiKeysPerOwner; made++) await makeApiKey(app, ada, { isCompanys })
    return ask(name, { ...(await settings(app)), ...more })
  }
  return {
    'createApiKey confirmation_required': () => unconfirmed('createApiKey'),
    'renewApiKey confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      return ask('renewApiKey', { id: (await makeApiKey(app, ada)).id })
    },
    'renewCompanyApiKey confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      const key = await makeApiKey(app, ada, { isCompanys: true })
      return ask('renewCompanyApiKey', { id, keyId: key.id })
    },
    'deleteUserApiKey email_unconfirmed': async () => {
      const waiting = await makeWaitingSignUp(app.owner, id)
      return ask('deleteUserApiKey', { id: waiting, keyId: (await makeApiKey(app, ada)).id })
    },
    'createApiKey too_many_keys': () => full('createApiKey'),
    'createCompanyApiKey confirmation_required': async () =>
      unconfirmed('createCompanyApiKey', await ofCompany()),
    'createCompanyApiKey too_many_keys': async () => full('createCompanyApiKey', await ofCompany())
  }
}
