import { expect, test } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../../src/contract/requests.ts'
import {
  type DepositState,
  listRankOf,
  summarizeDeposits
} from '../../../../src/stores/deposits/deposit-states.ts'

const request: ProcessedRequest = {
  id: 'r',
  kind: 'deposit',
  created: '2026-11-20T11:00:00.000Z',
  seq: 1,
  state: 'done'
}
const done: DepositState = { status: 'done', request }

test('is nothing for no files', () => {
  expect(summarizeDeposits([])).toMatchObject({ total: 0, percent: 0 })
})

test('weighs files by their bytes and says 100 only when everything has ended', () => {
  const big = { size: 9999, state: done }
  const small = (state: DepositState) => ({ size: 1, state })
  expect(summarizeDeposits([big, small({ status: 'waiting' })])).toMatchObject({
    percent: 99,
    active: 1
  })
  expect(summarizeDeposits([big, small({ status: 'recording' })])).toMatchObject({ percent: 99 })
  expect(summarizeDeposits([big, small(done)])).toMatchObject({ percent: 100, done: 2 })
})

test('counts failures apart from those that another try may help', () => {
  const failed = (retryable: boolean): DepositState => ({
    status: 'failed',
    error: new AppError('offline', ''),
    retryable
  })
  const states = [failed(true), failed(false), { status: 'cancelled' } as const]
  expect(summarizeDeposits(states.map(state => ({ size: 1, state })))).toMatchObject({
    failed: 2,
    retryable: 1,
    cancelled: 1,
    percent: 100
  })
})

test('tells the time left from the speed of all once one is steady', () => {
  const steady = { status: 'uploading', ratio: 0.5, cut: false, bytesPerSecond: 60 } as const
  const fresh = { status: 'uploading', ratio: 0, cut: false, bytesPerSecond: 40 } as const
  expect(summarizeDeposits([{ size: 1000, state: fresh }]).secondsLeft).toBeUndefined()
  const both = [
    { size: 1000, state: { ...steady, secondsLeft: 8 } },
    { size: 1000, state: fresh }
  ]
  expect(summarizeDeposits(both).secondsLeft).toBe(15)
})

test('counts the files and the bytes of one and the same batch', () => {
  const earlier = { size: 100, state: done, isEarlier: true }
  const later = [done, { status: 'waiting' } as const].map(state => ({ size: 50, state }))
  const summary = summarizeDeposits([earlier, earlier, ...later])
  expect(summary).toMatchObject({ batch: { ended: 1, total: 2 }, percent: 50, total: 4 })
})

test('ranks what needs the person and what runs above what waits and what has ended', () => {
  const states: DepositState[] = [
    { status: 'cancelled' },
    done,
    { status: 'waiting' },
    { status: 'uploading', ratio: 0.5, cut: false },
    { status: 'choosing', original: '', stored: '' }
  ]
  const ordered = states.toSorted((a, b) => listRankOf(a) - listRankOf(b))
  expect(ordered.map(({ status }) => status)).toEqual([
    'choosing',
    'uploading',
    'waiting',
    'done',
    'cancelled'
  ])
})
