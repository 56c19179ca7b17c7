import { expect, test } from 'vitest'
import { killDuringImports } from '../../../bench/soak/imports.ts'
import { seed } from '../../helpers/soak.ts'

// security.md C-01

// the soak also kills the check and the undo
test(`imports and undoes everything once though its run is killed (SEED=${seed})`, async () => {
  const { faults, kills } = await killDuringImports({ seed, rounds: 1, rows: 3000, steps: ['run'] })
  expect(faults).toEqual([])
  expect(kills).toBe(1)
}, 400_000)
