import { expect, test } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import { maxBulkPeople } from '../../../../src/contract/members.ts'
import { maxPeoplePerCall } from '../../../../src/stores/admin/member-list.ts'
import {
  type BulkStepResult,
  type BulkStepTarget,
  createBulkRun
} from '../../../../src/stores/lists/bulk-run.ts'

interface Call {
  step: BulkStepTarget<string>
  key: string
}

function makeRun(answer: (call: Call, number: number) => BulkStepResult | Promise<BulkStepResult>) {
  const calls: Call[] = []
  const run = createBulkRun<string, string>({
    limit: 2,
    async send(_, step, key) {
      calls.push({ step, key })
      return answer({ step, key }, calls.length)
    }
  })
  return { ...run, calls, state: () => run.$run.get() }
}

const allDone = ({ step }: Call): BulkStepResult => ({
  done: step.ids ?? [],
  unchanged: [],
  refused: [],
  next: null
})

test('sends ids in parts, and adds up what became of them', async () => {
  const run = makeRun(({ step }, number) => {
    const [first = '', ...rest] = step.ids ?? []
    return number === 1
      ? { done: rest, unchanged: [], refused: [{ id: first, code: 'not_oneself' }], next: null }
      : { done: [], unchanged: [first], refused: [], next: null }
  })
  await run.start('disable', { ids: ['a', 'b', 'c'] })
  expect(run.calls.map(({ step }) => step)).toEqual([{ ids: ['a', 'b'] }, { ids: ['c'] }])
  expect(run.state()).toEqual({
    change: 'disable',
    status: 'done',
    total: 3,
    treated: 3,
    done: ['b'],
    unchanged: 1,
    refused: [{ id: 'a', code: 'not_oneself' }]
  })
  await run.retryRefused()
  expect(run.calls.at(-1)?.step).toEqual({ ids: ['a'] })
})

test('goes on by the cursor of a filter, stops after the call under way, and resumes there', async () => {
  const run = makeRun((_, number) => {
    if (number === 2) run.stop()
    const next = number < 4 ? `c${number}` : null
    return { done: [`p${number}`], unchanged: [], refused: [], next }
  })
  await run.start('enable', { filter: 'all', count: 4 })
  expect(run.state()).toMatchObject({ status: 'stopped', treated: 2, done: ['p1', 'p2'] })
  await run.resume()
  expect(run.state()).toMatchObject({ status: 'done', treated: 4 })
  expect(run.calls.map(({ step }) => step)).toEqual([
    { filter: 'all' },
    { filter: 'all', cursor: 'c1' },
    { filter: 'all', cursor: 'c2' },
    { filter: 'all', cursor: 'c3' }
  ])
})

test('a lost answer is asked for again with the same key', async () => {
  const run = makeRun((call, number) => {
    if (number === 1) throw new AppError('unavailable', 'gone for a moment')
    return allDone(call)
  })
  await run.start('enable', { ids: ['a'] })
  expect(run.state()?.status).toBe('done')
  expect(run.calls).toHaveLength(2)
  expect(run.calls[0]?.key).toBe(run.calls[1]?.key)
})

test('an error that no second try mends ends the run, which goes on where it was', async () => {
  const run = makeRun((call, number) => {
    if (number === 2) throw new AppError('forbidden', 'no administrator any more')
    return allDone(call)
  })
  await run.start('enable', { ids: ['a', 'b', 'c'] })
  expect(run.state()).toMatchObject({ status: { error: { code: 'forbidden' } }, treated: 2 })
  await run.resume()
  expect(run.state()).toMatchObject({ status: 'done', done: ['a', 'b', 'c'] })
  run.dismiss()
  expect(run.state()).toBeUndefined()
})

test('asks for as many people at once as the API takes', () => {
  expect(maxPeoplePerCall).toBe(maxBulkPeople)
})
