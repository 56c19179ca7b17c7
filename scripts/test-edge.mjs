// Runs the tests of the edge runtime, then journeys of people in Chromium on nginx, that runtime and
// a process of the API.
import { runPlaywright, runVitest, summaryOf } from './results.mjs'

const journeys = [
  'accounts/sign-up',
  'admin/groups',
  'admin/registers',
  'history',
  'journey',
  'verify',
  'verify-registers'
]
const args = journeys.map(name => `tests/e2e/${name}.spec.ts`)
const results = [
  await runVitest([], {}, ['edge']),
  await runPlaywright({ args, env: { E2E_STACK: 'edge' } })
]
console.log(`\n${summaryOf(results)}`)
if (results.some(({ failed, passed }) => failed.length > 0 || passed === 0)) process.exitCode = 1
