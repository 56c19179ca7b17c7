import { randomUUID } from 'node:crypto'
import {
  confirmSessions,
  idempotencyKeyRefusals,
  makeCompanyWithoutHost,
  type RefusalContext,
  type Refusals,
  type RouteCases
} from '../../helpers/cases.ts'
import { makePerson, makeSignUp } from '../../helpers/mailed.ts'

export const rows: RouteCases = {
  listUsers: {
    input: () => ({
      limit: 10,
      q: 'example',
      sort: '-last_seen',
      state: 'active',
      permission: 'admin'
    }),
    ids: { id: 'company', cursor: 'member', group: 'group' },
    shared: true
  },
  exportUsers: {
    input: () => ({ q: 'example', state: 'active', permission: 'admin' }),
    ids: { id: 'company', group: 'group' },
    shared: true
  },
  getMember: { ids: { id: 'member' }, shared: true },
  updateMember: {
    input: () => ({ username: 'Renamed', locale: 'fr', group_ids: [] }),
    ids: { id: 'member' },
    idLists: { group_ids: { of: 'group' } },
    shared: true
  },
  setPermissions: {
    input: async app => {
      await confirmSessions(app)
      return { permissions: ['admin'] }
    },
    ids: { id: 'member' },
    shared: true
  },
  deleteMember: {
    input: async app => {
      await confirmSessions(app)
      return {}
    },
    ids: { id: 'member' },
    shared: true,
    spends: 'member'
  },
  resendVerifyLink: { ids: { id: 'sign-up' }, shared: true },
  signOutUser: {
    input: () => ({ revoke_api_keys: false }),
    ids: { id: 'member' },
    shared: true
  },
  listUserSessions: { ids: { id: 'member' }, shared: true },
  getUserUsage: { ids: { id: 'member' }, shared: true },
  changeUsers: {
    input: async (app, person) => {
      const { rows: groups } = await app.owner.query(
        'select id from "group" where company_id = $1 and is_default',
        [app.companies[person.host]]
      )
      return { action: 'add_to_group', group_id: groups[0].id, filter: { q: 'example' } }
    },
    ids: { group_id: 'group' },
    idLists: { ids: { of: 'member', instead: 'filter' } },
    filters: ['ids'],
    shared: true
  },
  createInvitationLinks: {
    input: async app => {
      await confirmSessions(app)
      return { filter: { q: 'example', state: 'invited', permission: 'admin' } }
    },
    idLists: { ids: { of: 'member', instead: 'filter' } },
    filters: ['ids'],
    shared: true
  },
  resendInvitation: {
    input: async app => {
      await confirmSessions(app)
      return {}
    },
    ids: { id: 'member' },
    shared: true
  },
  disableUser: { input: () => ({ reason: 'left' }), ids: { id: 'member' }, shared: true },
  enableUser: { ids: { id: 'member' }, shared: true }
}

/**
 * Returns functions that each provoke one error code of a call: `'updateMember changed_meanwhile'`.
 */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ada, ask } = stage
  const invited = async () => (await makePerson(app, true)).id
  const waiting = async () => (await makeSignUp(app)).id
  const stale = { 'if-match': '"999"' }
  const permissions = async (input: { id: string; permissions: string[] }, headers = {}) => {
    await confirmSessions(app)
    return ask('setPermissions', input, headers)
  }
  return {
    'updateMember changed_meanwhile': async () =>
      ask('updateMember', { id: await invited(), username: 'Late' }, stale),
    'updateMember email_unconfirmed': async () =>
      ask('updateMember', { id: await waiting(), username: 'Early' }),
    'setPermissions confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      return ask('setPermissions', { id: await invited(), permissions: ['admin'] })
    },
    'setPermissions changed_meanwhile': async () =>
      permissions({ id: await invited(), permissions: ['admin'] }, stale),
    'setPermissions email_unconfirmed': async () =>
      permissions({ id: await waiting(), permissions: ['admin'] }),
    'setPermissions not_oneself': () => permissions({ id: ada.id, permissions: [] }),
    'deleteMember confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      return ask('deleteMember', { id: await invited() })
    },
    'deleteMember changed_meanwhile': async () => {
      await confirmSessions(app)
      return ask('deleteMember', { id: await invited() }, stale)
    },
    'deleteMember not_oneself': async () => {
      await confirmSessions(app)
      return ask('deleteMember', { id: ada.id })
    },
    'resendInvitation already_active': async () =>
      ask('resendInvitation', { id: (await makePerson(app)).id }),
    'resendInvitation confirmation_required': async () => {
      const id = await invited()
      await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [id])
      await app.owner.query('update session set confirmed_until = null')
      return ask('resendInvitation', { id })
    },
    'resendInvitation email_unconfirmed': async () =>
      ask('resendInvitation', { id: await waiting() }),
    'resendInvitation host_needed': async () =>
      ask('resendInvitation', { id: randomUUID() }, await makeCompanyWithoutHost(app)),
    'resendInvitation person_disabled': async () => {
      const id = await invited()
      await ask('disableUser', { id, reason: 'left' })
      return ask('resendInvitation', { id })
    },
    'createInvitationLinks confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      return ask('createInvitationLinks', { ids: [await invited()] })
    },
    'createInvitationLinks host_needed': async () => {
      await confirmSessions(app)
      return ask(
        'createInvitationLinks',
        { ids: [randomUUID()] },
        await makeCompanyWithoutHost(app)
      )
    },
    'resendVerifyLink host_needed': async () =>
      ask('resendVerifyLink', { id: randomUUID() }, await makeCompanyWithoutHost(app)),
    'resendVerifyLink not_waiting': async () => ask('resendVerifyLink', { id: await invited() }),
    'disableUser not_oneself': () => ask('disableUser', { id: ada.id, reason: 'left' }),
    'disableUser email_unconfirmed': async () =>
      ask('disableUser', { id: await waiting(), reason: 'left' }),
    'enableUser email_unconfirmed': async () => ask('enableUser', { id: await waiting() }),
    'signOutUser not_oneself': () => ask('signOutUser', { id: ada.id }),
    'signOutUser email_unconfirmed': async () => ask('signOutUser', { id: await waiting() }),
    'changeUsers confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      return ask('changeUsers', { action: 'delete', ids: [await invited()] })
    },
    'changeUsers host_needed': async () =>
      ask('changeUsers', { action: 'invite', filter: {} }, await makeCompanyWithoutHost(app)),
    ...idempotencyKeyRefusals(stage, 'changeUsers', 'POST /user/bulk', (headers, q) =>
      ask('changeUsers', { action: 'enable', filter: { q } }, headers)
    )
  }
}
