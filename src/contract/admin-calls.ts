import { companyCategoryCalls } from './categories.ts'
import { companyCalls } from './companies.ts'
import { groupCalls } from './groups.ts'
import { memberCalls } from './members.ts'

/** The endpoints that the pages of administrators call. Browsers load them with the first such call. */
export const adminCalls = {
  ...companyCalls,
  ...memberCalls,
  ...groupCalls,
  ...companyCategoryCalls
}
