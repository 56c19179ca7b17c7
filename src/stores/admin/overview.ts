import { AppError } from '../../contract/kit/errors.ts'
import type {
  AttentionOfAllCompanies,
  AttentionOfCompany,
  UsageDay
} from '../../contract/overview.ts'
import type { LoadState } from '../load-state.ts'
import { personalAtom } from '../personal-atoms.ts'
import { api } from '../sessions.ts'
import { callAdminApi, createLatestLoadTracker, resultOrError } from './admin-api.ts'

interface Problems<AttentionOfCompany> {
  attention: AttentionOfCompany
  /** Whether the last load failed, so that `attention` is the result of an earlier one. */
  isStale: boolean
}

export const $attention = personalAtom<
  LoadState<Problems<AttentionOfCompany> & { company: string }>
>({
  status: 'loading'
})

export const $attentionOfAllCompanies = personalAtom<LoadState<Problems<AttentionOfAllCompanies>>>({
  status: 'loading'
})

interface UsageByDay {
  // `{company id} {group id}`; for a company, the group id is empty
  of: string
  days: readonly UsageDay[]
}

export const $usageByDay = personalAtom<LoadState<UsageByDay>>({ status: 'loading' })

// in days
export const usagePeriods = [30, 90] as const
export type UsagePeriod = (typeof usagePeriods)[number]

const dayMs = 86_400_000

const startCheck = createLatestLoadTracker()
const startCheckOfAll = createLatestLoadTracker()
const startLoad = createLatestLoadTracker()

/** The previous result of the same company stays visible meanwhile, even if loading fails. */
export async function loadAttention(company: string): Promise<void> {
  const before = $attention.get()
  const isSame = before.status === 'ready' && before.company === company
  if (!isSame) $attention.set({ status: 'loading' })
  const isLatest = startCheck()
  const next = await resultOrError(() => callAdminApi('getAttention', { id: company }))
  if (!isLatest()) return
  if (!(next instanceof AppError)) {
    $attention.set({ status: 'ready', company, attention: next, isStale: false })
  } else if (isSame) $attention.set({ ...before, isStale: true })
  else $attention.set({ status: 'failed', error: next })
}

/** The previous result stays visible meanwhile, even if loading fails. */
export async function loadAttentionOfAllCompanies(): Promise<void> {
  const isLatest = startCheckOfAll()
  const next = await resultOrError(() => api('getAttentionOfAllCompanies', {}))
  if (!isLatest()) return
  const before = $attentionOfAllCompanies.get()
  if (!(next instanceof AppError)) {
    $attentionOfAllCompanies.set({ status: 'ready', attention: next, isStale: false })
  } else if (before.status === 'ready') $attentionOfAllCompanies.set({ ...before, isStale: true })
  else $attentionOfAllCompanies.set({ status: 'failed', error: next })
}

export async function loadUsageByDay(
  company: string,
  group: string | undefined,
  period: UsagePeriod
): Promise<void> {
  const of = `${company} ${group ?? ''}`
  const before = $usageByDay.get()
  if (before.status !== 'ready' || before.of !== of) $usageByDay.set({ status: 'loading' })
  const isLatest = startLoad()
  const from = new Date(Date.now() - (period - 1) * dayMs).toISOString().slice(0, 10)
  const next = await resultOrError(() =>
    callAdminApi('getUsageByDay', { id: company, group, from })
  )
  if (!isLatest()) return
  if (next instanceof AppError) $usageByDay.set({ status: 'failed', error: next })
  else $usageByDay.set({ status: 'ready', of, days: next })
}
