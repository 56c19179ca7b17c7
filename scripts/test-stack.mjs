// Runs the journeys of people in the browser on several processes behind nginx: `npm run test:apart`,
// `npm run test:edge`. Takes the name of the stack, and the names of other test files.
import { runPlaywright, summaryOf } from './results.mjs'

const [stack, ...files] = process.argv.slice(2)
const journeys = [
  'journey.spec.ts',
  'accounts/sign-up.spec.ts',
  'deposit/deposit.spec.ts',
  'history.spec.ts',
  'tests/e2e/verify.spec.ts',
  'verify-registers.spec.ts',
  'admin/groups.spec.ts',
  'admin/registers.spec.ts'
]
const result = await runPlaywright({
  args: files.length > 0 ? files : journeys,
  env: { E2E_STACK: stack }
})
console.log(`\n${summaryOf([result])}`)
if (result.failed.length > 0 || result.passed === 0) process.exitCode = 1
