import type { Company } from '../contract/companies.ts'
import { AppError } from '../contract/errors.ts'
import type { Group } from '../contract/groups.ts'
import { adminApi } from './admin-api.ts'
import { personalAtom } from './personal-atoms.ts'
import { sessionNumber } from './sessions.ts'

export type Overview =
  | { status: 'loading' }
  /** There is no such company, or it is not the person's to administer. */
  | { status: 'missing' }
  | { status: 'failed'; error: AppError }
  | { status: 'ready'; company: Company; groups: readonly Group[]; hasMoreGroups: boolean }

/** What the first page of a company's administration shows. */
export const $overview = personalAtom<Overview>({ status: 'loading' })

/** The most groups that the server returns at once. */
const mostGroups = 200

/** Counts calls of `loadOverview`, so that a late answer about another company is dropped. */
let loads = 0

/** Loads a company with its first groups. What is shown of the same company stays until then. */
export async function loadOverview(id: string): Promise<void> {
  const before = $overview.get()
  if (before.status !== 'ready' || before.company.id !== id) $overview.set({ status: 'loading' })
  const [session, mine] = [sessionNumber(), ++loads]
  const next = await readOverview(id)
  if (session === sessionNumber() && mine === loads) $overview.set(next)
}

async function readOverview(id: string): Promise<Overview> {
  try {
    const [company, groups] = await Promise.all([
      adminApi('getCompany', { id }),
      adminApi('listGroups', { id, limit: mostGroups })
    ])
    return { status: 'ready', company, groups, hasMoreGroups: groups.length === mostGroups }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return isMissingError(error) ? { status: 'missing' } : { status: 'failed', error }
  }
}

/**
 * Returns whether an error means that the address of the page names nothing that the person may see.
 * `invalid_input` is such an error, too: the server answers it for an id that is not a UUID.
 */
export function isMissingError({ code }: AppError): boolean {
  return code === 'not_found' || code === 'invalid_input'
}
