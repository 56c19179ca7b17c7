import type { Strength } from '../core/input/password.ts'
import { createPool } from './pool.ts'
import type { Question } from './strength.ts'

/**
 * Rates a password in a worker, which loads the dictionaries once and rates the later passwords
 * too.
 */
export const rateStrength: (question: Question) => Promise<Strength> = createPool(
  1,
  () => new Worker(new URL('./strength.ts', import.meta.url), { type: 'module' })
)
