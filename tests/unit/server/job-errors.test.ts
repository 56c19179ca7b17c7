import { expect, test } from 'vitest'
import { runJobs } from '../../../src/server/jobs/job-runner.ts'

const coded = (code: string) => Object.assign(new Error('refused'), { code })

test.each([
  ['a wait for a connection that was too long', coded('53300'), 'warn'],
  ['a lost connection', new Error('Connection terminated unexpectedly'), 'warn'],
  ['a database that is stopped', Object.assign(coded('ENOENT'), { syscall: 'connect' }), 'warn'],
  ['a missing privilege', coded('42501'), 'error'],
  ['a file that is missing', coded('ENOENT'), 'error'],
  ['a fault of the program', new TypeError('x is undefined'), 'error']
])('%s is logged as it deserves', async (_, err, level) => {
  const logged: unknown[] = []
  const log = {
    info: () => {},
    warn: (facts: object) => logged.push({ level: 'warn', ...facts }),
    error: (facts: object) => logged.push({ level: 'error', ...facts })
  }
  const run = () => Promise.reject(err)
  await runJobs([{ name: 'sweep', everyMs: 60_000, run }], log)[Symbol.asyncDispose]()
  expect(logged).toEqual([{ level, job: 'sweep', err }])
})
