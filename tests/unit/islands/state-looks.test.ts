import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ProcessedRequest } from '../../../src/contract/requests.ts'
import {
  iconOfState,
  type StateWithLook,
  sealOfState,
  stateColorClass,
  stateLooks,
  stateWords
} from '../../../src/core/pages/state-looks.ts'
import { describeVerdict } from '../../../src/core/pages/verdict-words.ts'
import {
  depositStateLabel,
  sealStateOfDeposit
} from '../../../src/islands/deposit/deposit-labels.ts'
import {
  requestColorClass,
  requestStateLabel,
  sealStateOfRequest
} from '../../../src/islands/history/request-labels.ts'
import type { DepositState } from '../../../src/stores/deposits/deposit-states.ts'

// as: the keys of the table
const states = Object.keys(stateLooks) as StateWithLook[]
const leaf_hash = 'a'.repeat(64)
const key = (name: string) => name
const request = (fields: Partial<ProcessedRequest>): ProcessedRequest => ({
  id: '018f9c9e-1c2d-7abc-8def-0123456789ab',
  kind: 'deposit',
  created: '2026-05-03T12:00:00.000Z',
  seq: 1,
  state: 'done',
  ...fields
})

function wordIn(locale: 'en' | 'fr', name: string): unknown {
  const [file = '', ...path] = name.split('.')
  const url = new URL(`../../../src/i18n/${locale}/${file}.json`, import.meta.url)
  return path.reduce((value, step) => value?.[step], JSON.parse(readFileSync(url, 'utf8')))
}

test.each(states)('%s has one word on every screen, in both languages', state => {
  for (const locale of ['en', 'fr'] as const) {
    const words = new Set(stateWords[state].map(name => wordIn(locale, name)))
    expect([...words]).toEqual([expect.stringMatching(/\S/)])
  }
})

test('no two states look and read the same', () => {
  const looks = states.map(state => {
    const { color, seal } = stateLooks[state]
    const icon = iconOfState(state)
    return JSON.stringify([color, icon, seal, wordIn('en', stateWords[state][0] ?? '')])
  })
  expect(new Set(looks).size).toBe(looks.length)
})

/** Each state as the queue, the history and the verdict know it. */
const shown: {
  [state in StateWithLook]: { queue?: DepositState; history?: ProcessedRequest[]; verdict?: string }
} = {
  waiting: { queue: { status: 'waiting' } },
  unfinished: { history: [request({ state: 'uploading' })] },
  recording: {
    queue: { status: 'recording' },
    history: [request({ state: 'queued' }), request({ state: 'processing' })]
  },
  recorded: {
    queue: { status: 'done', request: request({ leaf_hash }) },
    history: [request({ leaf_hash })]
  },
  sealing_paused: {
    queue: { status: 'done', request: request({ leaf_hash, rung: 'sealing_paused' }) },
    history: [request({ leaf_hash, rung: 'sealing_paused' })]
  },
  sealed: {
    queue: { status: 'done', request: request({ leaf_hash, rung: 'sealed' }) },
    history: [request({ leaf_hash, rung: 'sealed' })]
  },
  cancelled: { queue: { status: 'cancelled' }, history: [request({ state: 'cancelled' })] },
  failed: { history: [request({ state: 'failed' })] },
  rejected: { history: [request({ state: 'rejected' })] },
  original: {
    history: [request({ kind: 'verify', verdict: 'authentic', match: 'original', leaf_hash })],
    verdict: verdictKey('original', 'file')
  },
  stored_copy: {
    history: [request({ kind: 'verify', verdict: 'authentic', match: 'stored_copy', leaf_hash })],
    verdict: verdictKey('stored_copy', 'file')
  },
  fingerprint: { verdict: verdictKey('original', 'fingerprint') },
  not_found: {
    history: [request({ kind: 'verify', verdict: 'not_found' })],
    verdict: verdictKey(undefined, 'file')
  },
  known_to_register: {
    history: [request({ kind: 'verify', verdict: 'known_to_register' })],
    verdict: 'known_to_register'
  },
  indeterminate: {
    history: [request({ kind: 'verify', verdict: 'indeterminate' })],
    verdict: 'indeterminate'
  }
}

function verdictKey(
  match: 'original' | 'stored_copy' | undefined,
  subject: 'file' | 'fingerprint'
) {
  const findings = match ? [{ match, recorded: '2026-05-03T12:00:00.000Z', leaf_hash }] : []
  const verdict = match ? 'authentic' : 'not_found'
  return describeVerdict(
    { verdict, at: '2026-05-03T12:00:00.000Z', findings, sources: [] },
    subject
  ).key
}

test.each(states)('%s has the look of the table in queue, history and verdict', state => {
  const words = stateWords[state]
  const seal = sealOfState(state, leaf_hash)
  const { queue, history = [], verdict } = shown[state]
  if (queue) {
    expect(sealStateOfDeposit(queue)).toEqual(seal)
    expect(words).toContain(depositStateLabel(queue, key, 'en', 'a.pdf'))
  }
  for (const entry of history) {
    expect(sealStateOfRequest(entry)).toEqual(seal)
    expect(words).toContain(requestStateLabel(entry, key))
    expect(requestColorClass(entry)).toBe(stateColorClass(state))
  }
  if (verdict) expect(words).toContain(`verify.word.${verdict}`)
})
