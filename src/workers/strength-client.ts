import type { PasswordStrength } from '../core/input/password.ts'
import { createPool } from './pool.ts'
import type { StrengthRequest } from './strength.ts'

/** From 0 to 4. The worker keeps running, so that it loads its dictionaries only once. */
export const rateStrength: (request: StrengthRequest) => Promise<PasswordStrength> = createPool(
  1,
  () => new Worker(new URL('./strength.ts', import.meta.url), { type: 'module' })
)
