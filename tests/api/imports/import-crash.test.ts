import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ImportingServices,
  killDuringImports,
  startImportingServices
} from '../../../bench/soak/imports.ts'
import { killDuringRegisterImports } from '../../../bench/soak/register-imports.ts'
import { seed } from '../../helpers/soak.ts'

// security.md C-01

let services: ImportingServices
beforeAll(async () => {
  services = await startImportingServices()
}, 400_000)
afterAll(() => services[Symbol.asyncDispose]())

// the soak also kills the check and the undo
test(`imports and undoes everything once though its run is killed (SEED=${seed})`, async () => {
  const options = { seed, rounds: 1, rows: 3000, steps: ['run' as const] }
  const { faults, kills } = await killDuringImports(services, options)
  expect(faults).toEqual([])
  expect(kills).toBe(1)
}, 400_000)

// the soak also kills uploads, calls and fetches
test(`imports the file of a register once though its reading is killed (SEED=${seed})`, async () => {
  const options = { seed, rounds: 1, rows: 10_000, steps: ['run' as const] }
  const { faults, kills } = await killDuringRegisterImports(services, options)
  expect(faults).toEqual([])
  expect(kills).toBe(1)
}, 400_000)
