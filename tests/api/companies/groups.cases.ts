import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { listCompanyCategories } from '../../../src/contract/company-categories.ts'
import { addGroupCategory, getGroup } from '../../../src/contract/groups.ts'
import {
  idempotencyKeyRefusals,
  makeCategory,
  makeGroup,
  type RefusalContext,
  type Refusals,
  type RouteCases,
  withBoundsReached
} from '../../helpers/cases.ts'
import { makePerson, makeSignUp } from '../../helpers/mailed.ts'

const settings = {
  features: ['deposit'],
  max_requests: 100,
  max_requests_interval: 'P30D',
  max_storage: 1_000_000
}
const page = { limit: 10, q: 'e', sort: '-created' }

export const rows: RouteCases = {
  listGroups: {
    input: () => page,
    ids: { id: 'company', cursor: 'group', category: 'company category' },
    shared: true
  },
  createGroup: { input: () => ({ name: `Readers ${randomUUID()}`, ...settings }) },
  getGroup: { ids: { id: 'group' }, shared: true },
  updateGroup: {
    input: () => ({ name: `Readers ${randomUUID()}`, ...settings, is_default: true }),
    ids: { id: 'group' },
    shared: true
  },
  deleteGroup: { ids: { id: 'group' }, shared: true, spends: 'group' },
  addGroupUser: { ids: { groupId: 'group', user_id: 'member' }, shared: true },
  removeGroupUser: { ids: { groupId: 'group', userId: 'member' }, shared: true },
  addGroupCategory: {
    ids: { groupId: 'group', category_id: 'company category' },
    shared: true,
    async does({ app, ada }) {
      const groupId = await makeGroup(app, ada.host)
      const category_id = await makeCategory(app, ada.host)
      await ada.call(addGroupCategory, { groupId, category_id })
      const id = app.companies[ada.host] ?? ''
      const allowed = await ada.call(listCompanyCategories, { id, group: groupId })
      expect(allowed.map(category => category.id)).toContain(category_id)
      expect(await ada.call(getGroup, { id: groupId })).toMatchObject({
        category_count: allowed.length
      })
    }
  },
  removeGroupCategory: { ids: { groupId: 'group', categoryId: 'company category' }, shared: true }
}

/** Returns functions that each provoke one error code of a call: `'createGroup name_taken'`. */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ask } = stage
  const host = 'acme.localhost'
  const newGroup = () => makeGroup(app, host)

  return {
    'createGroup name_taken': async () => {
      await ask('createGroup', { name: 'Élèves' })
      return ask('createGroup', { name: 'ELEVES' })
    },
    'createGroup too_many_groups': () =>
      withBoundsReached(app, () => ask('createGroup', { name: 'One more' })),
    ...idempotencyKeyRefusals(stage, 'createGroup', 'POST /group', (headers, name) =>
      ask('createGroup', { name }, headers)
    ),
    'updateGroup changed_meanwhile': async () =>
      ask('updateGroup', { id: await newGroup(), name: 'Late' }, { 'if-match': '"999"' }),
    'updateGroup name_taken': async () => {
      const id = await newGroup()
      await ask('createGroup', { name: 'Clerks' })
      return ask('updateGroup', { id, name: 'clerks' })
    },
    'updateGroup default_group_private': async () => {
      const id = await newGroup()
      await allowPrivate(id)
      return ask('updateGroup', { id, is_default: true })
    },
    'deleteGroup changed_meanwhile': async () =>
      ask('deleteGroup', { id: await newGroup() }, { 'if-match': '"999"' }),
    'deleteGroup in_use': async () => {
      const id = await newGroup()
      await ask('addGroupUser', { groupId: id, user_id: (await makePerson(app, true)).id })
      return ask('deleteGroup', { id })
    },
    'deleteGroup default_group_needed': async () => {
      const id = await newGroup()
      await ask('updateGroup', { id, is_default: true })
      return ask('deleteGroup', { id })
    },
    'addGroupUser email_unconfirmed': async () => {
      const user_id = (await makeSignUp(app)).id
      return ask('addGroupUser', { groupId: await newGroup(), user_id })
    },
    'addGroupUser too_many_groups': async () => {
      const user_id = (await makePerson(app, true)).id
      await app.owner.query(
        `with made as (
           insert into "group" (company_id, id, name, is_default, features, created_at)
           select $1, gen_random_uuid(), 'Crowd ' || n, false, '{}', now()
             from generate_series(1, 100) n
           returning company_id, id
         )
         insert into group_user (company_id, group_id, user_id) select company_id, id, $2 from made
         on conflict do nothing`,
        [app.companies[host], user_id]
      )
      return ask('addGroupUser', { groupId: await newGroup(), user_id })
    },
    'removeGroupUser email_unconfirmed': async () => {
      const userId = (await makeSignUp(app)).id
      return ask('removeGroupUser', { groupId: await newGroup(), userId })
    },
    'addGroupCategory default_group_private': async () => {
      const groupId = await newGroup()
      await ask('updateGroup', { id: groupId, is_default: true })
      const category_id = await makeCategory(app, host, { visibility: 'private' })
      return ask('addGroupCategory', { groupId, category_id })
    }
  }

  async function allowPrivate(group: string): Promise<void> {
    await app.owner.query(
      'insert into group_category (company_id, group_id, category_id) values ($1, $2, $3)',
      [app.companies[host], group, await makeCategory(app, host, { visibility: 'private' })]
    )
  }
}
