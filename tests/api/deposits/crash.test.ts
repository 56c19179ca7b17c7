import { expect, test } from 'vitest'
import { killDuringDeposits } from '../../../bench/soak/crash.ts'
import { seed } from '../../helpers/soak.ts'

// security.md C-01

test(`loses and doubles nothing when it is killed under four depositors (SEED=${seed})`, async () => {
  const report = await killDuringDeposits({ seed, kills: 1, depositors: 4 })
  expect(report.faults).toEqual([])
  // the kill comes after a deposit
  expect(report.acknowledged).toBeGreaterThanOrEqual(1)
  expect(report.figures).toMatchObject({
    deposits: report.acknowledged,
    leaves: report.acknowledged
  })
}, 400_000)
