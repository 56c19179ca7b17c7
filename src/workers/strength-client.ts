import type { Strength } from '../core/input/password.ts'
import { createPool } from './pool.ts'
import type { Question } from './strength.ts'

/** Judges passwords in a worker that brings its own dictionaries and stays for the next one. */
export const rateStrength: (question: Question) => Promise<Strength> = createPool(
  1,
  () => new Worker(new URL('./strength.ts', import.meta.url), { type: 'module' })
)
