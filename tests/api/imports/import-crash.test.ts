import { expect, test } from 'vitest'
import { killDuringImports } from '../../../bench/soak/imports.ts'
import { seed } from '../../helpers/soak.ts'

// security.md C-01

test(`imports and undoes everything once though each step is killed (SEED=${seed})`, async () => {
  const { faults, kills } = await killDuringImports({ seed, rounds: 1, rows: 4000 })
  expect(faults).toEqual([])
  expect(kills).toBe(3)
}, 400_000)
