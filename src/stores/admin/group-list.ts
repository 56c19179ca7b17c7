import type { Group } from '../../contract/groups.ts'
import { createListStore } from '../lists/lists.ts'
import { callAdminApi, companyIdOfPage } from './admin-api.ts'

export const groupSortKeys = ['name', '-name', 'created', '-created'] as const

export interface GroupQuery {
  q?: string
  sort?: (typeof groupSortKeys)[number]
}

export const groupList = createListStore<Group, GroupQuery>((query, page, company) =>
  callAdminApi('listGroups', { id: company, ...page, ...query })
)

/** Undefined if it cannot be loaded. */
export async function fetchGroupName(id: string): Promise<string | undefined> {
  try {
    const known = groupList.$rows.get().find(group => group.id === id)
    return (known ?? (await callAdminApi('getGroup', { id }))).name
  } catch {
    return undefined // the filter then shows an unknown group
  }
}

const mostOnPage = 200

export async function fetchAllGroups(query: GroupQuery): Promise<Group[]> {
  const company = companyIdOfPage()
  const groups: Group[] = []
  for (;;) {
    const cursor = groups.at(-1)?.id
    const place = cursor === undefined ? {} : { cursor }
    const input = { id: company, limit: mostOnPage, ...query, ...place }
    const page = await callAdminApi('listGroups', input, { company })
    groups.push(...page)
    if (page.length < mostOnPage) return groups
  }
}
