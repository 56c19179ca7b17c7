import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorCodes } from '../../src/contract/errors.ts'

test('publishes every code with its status and sentence, and no other', () => {
  const sentences = JSON.parse(readFileSync('src/i18n/en/errors.json', 'utf8'))
  const published = readFileSync('docs/errors.md', 'utf8')
    .split('\n')
    .filter(line => line.startsWith('| `'))
  const listed = Object.entries(errorCodes).map(
    ([code, status]) => `| \`${code}\` | ${status || '–'} | ${sentences[code]} |`
  )
  expect(published).toEqual(listed)
})
