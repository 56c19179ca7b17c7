import type { DisabledReason } from '../../contract/kit/disabled.ts'
import type {
  BulkAction,
  BulkResult,
  Member,
  MemberState,
  Permission
} from '../../contract/members.ts'
import { personName } from '../../core/text/person-name.ts'
import { createBulkRun } from '../lists/bulk-run.ts'
import { createListStore, isSameQuery } from '../lists/lists.ts'
import { emptySelection, type RowSelection } from '../lists/selection.ts'
import { personalAtom } from '../personal-atoms.ts'
import { callAdminApi, companyIdOfPage } from './admin-api.ts'

export const memberSortKeys = [
  'name',
  '-name',
  'email',
  '-email',
  'created',
  '-created',
  'last_seen',
  '-last_seen'
] as const
export type MemberSortKey = (typeof memberSortKeys)[number]

export interface MemberFilter {
  /** Words of the name or e-mail, or the id of the person. */
  q?: string
  state?: MemberState
  group?: string
  permission?: Permission
}

export interface MemberQuery extends MemberFilter {
  sort?: MemberSortKey
}

const list = createListStore<Member, MemberQuery>((query, page, company) =>
  callAdminApi('listUsers', { id: company, ...page, ...query })
)

/** People stay selected while the person visits other pages. */
export const $memberSelection = personalAtom<RowSelection>(emptySelection)

export const memberList = {
  ...list,
  open(company: string, query: MemberQuery): Promise<void> {
    // which people are "all that match" depends on the search and the filters
    const isOtherSet = !isSameQuery(memberFilterOf(list.$query.get()), memberFilterOf(query))
    const isOther = company !== list.owner()
    if (isOther || (isOtherSet && $memberSelection.get().all !== undefined)) {
      $memberSelection.set(emptySelection)
    }
    return list.open(company, query)
  }
}

export function memberFilterOf({ sort: _, ...filter }: MemberQuery): MemberFilter {
  return filter
}

export async function countMembers(filter: MemberFilter): Promise<number> {
  // a dry run changes nothing, whatever its action is
  const { matching = 0 } = await callAdminApi('changeUsers', {
    action: 'sign_out',
    filter,
    dry_run: true
  })
  return matching
}

// a copy of `maxBulkPeople`, so that the page need not load the contract
export const maxPeoplePerCall = 200

export interface BulkMemberChange {
  action: BulkAction
  // the page may show another company while the change runs
  company: string
  group?: { id: string; name: string }
  reason?: DisabledReason
  // `enable` fills this map, so that undoing it can disable each person for the old reason again
  reasons: Map<string, DisabledReason>
}

/** If none is running, it contains the last one. */
export const memberBulkRun = createBulkRun<BulkMemberChange, MemberFilter>({
  limit: maxPeoplePerCall,
  async send(change, { ids, ...others }, key) {
    const { action, company, group, reason, reasons } = change
    const send = (why: DisabledReason | undefined, some = ids, of = key) =>
      callAdminApi(
        'changeUsers',
        { action, group_id: group?.id, reason: why, ...others, ...(some && { ids: [...some] }) },
        { company, idempotencyKey: of }
      )
    if (action !== 'disable' || reason || !ids) {
      const result = await send(reason)
      for (const each of result.reasons ?? []) reasons.set(each.id, each.reason)
      return result
    }
    // undoes `enable`: disables each person again, for the reason that they had before
    const results: BulkResult[] = []
    for (const [why, some] of Map.groupBy(ids, id => reasons.get(id))) {
      results.push(await send(why ?? 'requested', some, `${key}-${why}`))
    }
    return {
      done: results.flatMap(({ done }) => done),
      unchanged: results.flatMap(({ unchanged }) => unchanged),
      refused: results.flatMap(({ refused }) => refused),
      next: null
    }
  }
})

/** Undefined for a change that cannot be undone. */
export function inverseChange(change: BulkMemberChange): BulkMemberChange | undefined {
  const { company, group, reasons } = change
  const kept = { company, reasons }
  switch (change.action) {
    case 'add_to_group':
      return group && { ...kept, action: 'remove_from_group', group }
    case 'remove_from_group':
      return group && { ...kept, action: 'add_to_group', group }
    case 'disable':
      return { ...kept, action: 'enable' }
    case 'enable':
      return { ...kept, action: 'disable' }
    default:
      return undefined
  }
}

/** Leaves out people whose name cannot be loaded, for example because they were deleted. */
export async function fetchMemberNames(ids: readonly string[]): Promise<Map<string, string>> {
  const known = new Map(memberList.$rows.get().map(member => [member.id, personName(member)]))
  const company = companyIdOfPage()
  const names = new Map<string, string>()
  for (const id of ids) {
    const name = known.get(id) ?? (await loadName(id, company))
    if (name !== undefined) names.set(id, name)
  }
  return names
}

async function loadName(id: string, company: string): Promise<string | undefined> {
  try {
    return personName(await callAdminApi('getMember', { id }, { company }))
  } catch {
    return undefined // the list of refusals then shows the id
  }
}
