import { expect, test, vi } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../../src/contract/requests.ts'
import type { BatchItemResult, SendBatch } from '../../../../src/stores/deposits/batch-client.ts'
import { createDepositBatchQueue } from '../../../../src/stores/deposits/deposit-batches.ts'

type Files = Parameters<SendBatch>[0]

/** Creates batches whose calls the test answers by hand. */
function makeBatches() {
  const calls: {
    names: string[]
    onProgress: (share: number) => void
    stopped: AbortSignal
    answer: (results: BatchItemResult[]) => void
    fail: (error: unknown) => void
  }[] = []
  const batches = createDepositBatchQueue((files, { onProgress, signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly BatchItemResult[]>()
    signal.addEventListener('abort', () => reject(new AppError('offline', 'cut')))
    const names = files.map(({ item }) => item.name)
    calls.push({ names, onProgress, stopped: signal, answer: resolve, fail: reject })
    return promise
  })
  const send = (name: string, bytes = 10, stop = new AbortController()) => {
    const seen: string[] = []
    const result = batches.send(itemOf(name), new Blob([Buffer.alloc(bytes)]), {
      signal: stop.signal,
      onStart: () => seen.push('start'),
      onProgress: sent => seen.push(`${sent}`),
      onSent: () => seen.push('sent'),
      onResult: () => seen.push('result')
    })
    result.catch(() => undefined)
    return { result, seen, stop }
  }
  const call = (index: number) => {
    const found = calls[index]
    if (!found) throw new Error(`there is no call ${index}`)
    return found
  }
  return { calls, call, send }
}

function itemOf(name: string): Files[number]['item'] {
  const digest = 'ab'.repeat(32)
  return { name, key: name, size: 10, media_type: 'text/plain', original: digest, stored: digest }
}

function done(id: string): BatchItemResult {
  return { request: { id, state: 'done' } as ProcessedRequest } // as: the rest is not read here
}

test('sends what comes meanwhile with the next call, fifty files at most', async () => {
  const { calls, call, send } = makeBatches()
  const sent = Array.from({ length: 70 }, (_, at) => send(`${at}`))
  // a full call does not wait for the one before it
  expect(calls.map(({ names }) => names.length)).toEqual([1, 50])
  call(0).answer([done('0')])
  call(1).answer(call(1).names.map(done))
  await vi.waitFor(() => expect(calls).toHaveLength(3))
  expect(call(2).names).toHaveLength(19)
  call(2).answer(call(2).names.map(done))
  const results = await Promise.all(sent.map(({ result }) => result))
  expect(results.map(result => 'request' in result && result.request.id)).toEqual(
    sent.map((_each, at) => `${at}`)
  )
})

test('keeps a call below its bytes', async () => {
  const { calls, call, send } = makeBatches()
  send('first')
  for (let at = 0; at < 12; at++) send(`${at}`, 1024 * 1024)
  expect(calls).toHaveLength(2)
  expect(call(1).names).toHaveLength(7)
})

test('shows each file its own share of the body', async () => {
  const { call, send } = makeBatches()
  const first = send('a', 100)
  const [second, third] = [send('b', 100), send('c', 300)]
  call(0).onProgress(0.5)
  call(0).onProgress(1)
  expect(first.seen).toEqual(['start', '50', '100', 'sent'])
  call(0).answer([done('a')])
  await first.result
  await vi.waitFor(() => expect(second.seen).toEqual(['start']))
  call(1).onProgress(0.5)
  expect([second.seen, third.seen]).toEqual([
    ['start', '100'],
    ['start', '100']
  ])
})

test('hands a refusal to its own file', async () => {
  const { call, send } = makeBatches()
  send('first')
  const [good, bad] = [send('a'), send('b')]
  call(0).answer([done('first')])
  await vi.waitFor(() => call(1))
  const problem = { status: 429, code: 'request_limit_reached', detail: 'x', used: 5, limit: 5 }
  call(1).answer([done('a'), { problem: { ...problem, resets_at: null, retry_after: 7 } }])
  expect(await good.result).toMatchObject({ request: { id: 'a' } })
  await expect(bad.result).rejects.toMatchObject({
    code: 'request_limit_reached',
    figures: { used: 5, limit: 5 },
    retryAfter: 7
  })
})

test('hands the failure of a call to all its files', async () => {
  const { call, send } = makeBatches()
  const one = send('a')
  call(0).fail(new AppError('offline', 'gone'))
  await expect(one.result).rejects.toMatchObject({ code: 'offline' })
})

test('starts a call again without the file that is taken back', async () => {
  const { calls, call, send } = makeBatches()
  send('first')
  const [kept, gone] = [send('a'), send('b')]
  call(0).answer([done('first')])
  await vi.waitFor(() => call(1))
  gone.stop.abort()
  await expect(gone.result).rejects.toThrow('terminated')
  await vi.waitFor(() => expect(calls).toHaveLength(3))
  expect(call(2).names).toEqual(['a'])
  call(2).answer([done('a')])
  expect(await kept.result).toMatchObject({ request: { id: 'a' } })
})

test('lets a call end whose bytes have all been sent', async () => {
  const { call, send } = makeBatches()
  const one = send('a')
  call(0).onProgress(1)
  one.stop.abort()
  expect(call(0).stopped.aborted).toBe(false)
  call(0).answer([done('a')])
  expect(await one.result).toMatchObject({ request: { id: 'a' } })
  expect(one.seen).toContain('result')
})

test('forgets a file that is taken back before its call', async () => {
  const { calls, call, send } = makeBatches()
  send('first')
  const gone = send('a')
  gone.stop.abort()
  await expect(gone.result).rejects.toThrow('terminated')
  call(0).answer([done('first')])
  await Promise.resolve()
  expect(calls).toHaveLength(1)
})
