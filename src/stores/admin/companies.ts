import type { Company, CompanyDetails, ListedCompany } from '../../contract/companies.ts'
import type { Group } from '../../contract/groups.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { mailLinkMinutes } from '../../core/mail-link-minutes.ts'
import { withPasswordConfirmation } from '../confirmation.ts'
import { browserEnvironment } from '../environment.ts'
import { createListStore } from '../lists/lists.ts'
import { personalAtom } from '../personal-atoms.ts'
import { api, type CallInput, type CallOutput, sessionGeneration } from '../sessions.ts'
import { callAdminApi, createLatestLoadTracker, resultOrError } from './admin-api.ts'

export type CompanyOverviewState =
  | { status: 'loading' }
  // it does not exist, or the person may not administer it
  | { status: 'missing' }
  | { status: 'failed'; error: AppError }
  | { status: 'ready'; company: CompanyDetails; groups: readonly Group[]; hasMoreGroups: boolean }

export const $companyOverview = personalAtom<CompanyOverviewState>({ status: 'loading' })

// the banner shows its name to operators who act in a company other than their own
export const $lastLoadedCompany = personalAtom<Pick<Company, 'id' | 'name'> | undefined>(undefined)

export interface FirstAdminInvitation {
  company: string
  email: string
  link: string
  until: number
}

export const $firstAdminInvitation = personalAtom<FirstAdminInvitation | undefined>(undefined)

export const companySortKeys = ['name', '-name', 'created', '-created'] as const

export interface CompanyQuery {
  q?: string
  state?: 'active' | 'suspended'
  sort?: (typeof companySortKeys)[number]
}

export const companyList = createListStore<ListedCompany, CompanyQuery>((query, page) =>
  api('listCompanies', { ...page, ...query })
)

// the most that the server returns in one response
const mostGroups = 200

const startLoad = createLatestLoadTracker()

/** A company that is shown already stays visible meanwhile. */
export async function loadCompanyOverview(id: string): Promise<void> {
  const before = $companyOverview.get()
  if (before.status !== 'ready' || before.company.id !== id)
    $companyOverview.set({ status: 'loading' })
  const isLatest = startLoad()
  const next = await resultOrError(() =>
    Promise.all([
      callAdminApi('getCompany', { id }),
      callAdminApi('listGroups', { id, limit: mostGroups })
    ])
  )
  if (!isLatest()) return
  if (next instanceof AppError) {
    $companyOverview.set(
      isUnknownOrInvalidIdError(next) ? { status: 'missing' } : { status: 'failed', error: next }
    )
    return
  }
  const [company, groups] = next
  const hasMoreGroups = groups.length === mostGroups
  $companyOverview.set({ status: 'ready', company, groups, hasMoreGroups })
  $lastLoadedCompany.set(company)
}

export async function loadCompanyForBanner(id: string): Promise<void> {
  const session = sessionGeneration()
  const company = await resultOrError(() => callAdminApi('getCompany', { id }, { company: id }))
  if (session === sessionGeneration() && !(company instanceof AppError))
    $lastLoadedCompany.set(company)
}

/**
 * `key` is the idempotency key. A link for the first administrator is in `$firstAdminInvitation`.
 */
export async function createCompany(
  input: CallInput<'createCompany'>,
  key: string
): Promise<CallOutput<'createCompany'>> {
  const session = sessionGeneration()
  const company = await withPasswordConfirmation('createCompany', () =>
    api('createCompany', input, { idempotencyKey: key })
  )
  const link = company.invitation?.link
  const until = browserEnvironment().now() + mailLinkMinutes.activate * 60_000
  if (session === sessionGeneration()) {
    $firstAdminInvitation.set(
      link === undefined ? undefined : { company: company.id, email: input.email, link, until }
    )
  }
  return company
}

export type CompanyChanges = Partial<Pick<Company, 'name'>>

/** Throws `changed_meanwhile` if the company does not have this version any more. */
export async function updateCompany(
  id: string,
  changes: CompanyChanges,
  version: number
): Promise<void> {
  await showAnswer(callAdminApi('updateCompany', { ...changes, id }, { version }))
}

export function reloadCompany(id: string): Promise<Company> {
  return showAnswer(callAdminApi('getCompany', { id }))
}

export async function suspendCompany(input: CallInput<'suspendCompany'>): Promise<void> {
  await showAnswer(callAdminApi('suspendCompany', input))
}

export async function resumeCompany(id: string): Promise<void> {
  await showAnswer(callAdminApi('resumeCompany', { id }))
}

// by then, the page may show another company or a newer version
async function showAnswer(call: Promise<Company>): Promise<Company> {
  const session = sessionGeneration()
  const company = await call
  const before = $companyOverview.get()
  const isShown = before.status === 'ready' && before.company.id === company.id
  if (session !== sessionGeneration() || !isShown || company.version < before.company.version) {
    return company
  }
  $companyOverview.set({ ...before, company: { ...before.company, ...company } })
  $lastLoadedCompany.set(company)
  return company
}

// `invalid_input` is the answer to an id that is not a UUID
export function isUnknownOrInvalidIdError({ code }: AppError): boolean {
  return code === 'not_found' || code === 'invalid_input'
}
