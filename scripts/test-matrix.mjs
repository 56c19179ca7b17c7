// Runs the browser tests with each page and state in every language, width and color scheme. `npm
// test` takes each in one look. Takes the names of test files.
import { runPlaywright, summaryOf } from './results.mjs'

const result = await runPlaywright({ args: process.argv.slice(2), env: { MATRIX: '1' } })
console.log(`\n${summaryOf([result])}`)
if (result.failed.length > 0 || result.passed === 0) process.exitCode = 1
