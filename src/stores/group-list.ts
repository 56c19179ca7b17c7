import type { Group } from '../contract/groups.ts'
import { adminApi } from './admin-api.ts'
import { createList } from './lists.ts'

export const groupSorts = ['name', '-name', 'created', '-created'] as const

export interface GroupQuery {
  q?: string
  sort?: (typeof groupSorts)[number]
}

/** The groups of the company that is administered. Its owner is the id of the company. */
export const groupList = createList<Group, GroupQuery>({
  query: {},
  isSame: (a, b) => a.q === b.q && a.sort === b.sort,
  load: (query, page, company = '') => adminApi('listGroups', { id: company, ...page, ...query })
})
