import { companyCategoryCalls } from './categories.ts'
import { companyCalls } from './companies.ts'
import { groupCalls } from './groups.ts'
import { memberCalls } from './members.ts'

/**
 * The API calls of the administration pages. Browsers load these definitions only when a page makes
 * one of the calls.
 */
export const adminCalls = {
  ...companyCalls,
  ...memberCalls,
  ...groupCalls,
  ...companyCategoryCalls
}
