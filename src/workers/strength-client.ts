import type { Strength } from '../core/input/password.ts'
import { createPool } from './pool.ts'
import type { Question } from './strength.ts'

/** Rates a password in a worker. The worker stays, so that it loads the dictionaries only once. */
export const rateStrength: (question: Question) => Promise<Strength> = createPool(
  1,
  () => new Worker(new URL('./strength.ts', import.meta.url), { type: 'module' })
)
