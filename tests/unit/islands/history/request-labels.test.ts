import { expect, test } from 'vitest'
import type { ProcessedRequest } from '../../../../src/contract/requests.ts'
import history from '../../../../src/i18n/en/history.json' with { type: 'json' }
import { type Messages, translator } from '../../../../src/i18n/index.ts'
import { requestName } from '../../../../src/islands/history/request-labels.ts'

test.each([
  [1, undefined, 'Verification of one document'],
  [3, undefined, 'Verification of 3 documents'],
  [1, 'lease.pdf', 'Verification of lease.pdf'],
  [2, 'lease.pdf', 'Verification of lease.pdf and 1 other document'],
  [3, 'lease.pdf', 'Verification of lease.pdf and 2 other documents']
])('%i verified files, of which the person has deposited %s: %s', (asked, name, words) => {
  const request: ProcessedRequest = {
    id: 'r',
    kind: 'verify',
    created: '2026-01-01T00:00:00.000Z',
    seq: 1,
    state: 'done',
    items: { asked, authentic: 1, not_found: asked - 1 },
    ...(name === undefined ? {} : { name })
  }
  expect(requestName(request, translator('en', { history } as unknown as Messages))).toBe(words)
})
