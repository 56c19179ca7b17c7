import { describe, expect, test } from 'vitest'
import type { SigningWorkerReply } from '../../../src/workers/kdf.ts'
import { startSigningWorker } from '../../../src/workers/kdf-client.ts'
import type { PoolWorker } from '../../../src/workers/pool.ts'

describe('keys of a form', () => {
  test('sends e-mail and password in canonical form', () => {
    const { worker, start } = makeWorker()
    startSigningWorker(' Alice@Example.com', 'cafe\u0301 au lait', start)
    expect(worker.told).toEqual([
      { kind: 'open', email: 'alice@example.com', password: 'caf\u00e9 au lait' }
    ])
  })

  test('gives each call its own answer', async () => {
    const { worker, start } = makeWorker()
    const keys = startSigningWorker('alice@example.com', 'a password', start)
    const first = keys.respond('one', 'login', 'localhost')
    const second = keys.publicKeyJwt({ challenge: 'two', aud: 'localhost', purpose: 'signup' })
    worker.say({ kind: 'signed', id: 2, text: 'second' })
    worker.say({ kind: 'signed', id: 1, text: 'first' })
    expect(await Promise.all([first, second])).toEqual(['first', 'second'])
    expect(worker.told.slice(1)).toEqual([
      { kind: 'respond', id: 1, challenge: 'one', purpose: 'login', host: 'localhost' },
      { kind: 'publicKeyJwt', id: 2, challenge: 'two', purpose: 'signup', aud: 'localhost' }
    ])
  })

  test('rejects with the code of a refusal', async () => {
    const { worker, start } = makeWorker()
    const answer = startSigningWorker('a@example.com', 'a password', start).respond(
      'x',
      'login',
      'localhost'
    )
    worker.say({ kind: 'refused', id: 1, code: 'challenge_invalid', detail: 'wrong host' })
    await expect(answer).rejects.toMatchObject({ code: 'challenge_invalid' })
  })

  test.each([
    [
      'closed by the form',
      (keys: ReturnType<typeof startSigningWorker>) => keys.close(),
      'cancelled'
    ],
    [
      'a minute is over',
      (_: unknown, worker: FakeWorker) => worker.say({ kind: 'closed' }),
      'cancelled'
    ],
    ['the worker cannot be loaded', (_: unknown, worker: FakeWorker) => worker.fail(), 'offline'],
    [
      'the worker fails',
      (_: unknown, worker: FakeWorker) => {
        worker.say({ kind: 'signed', id: 7, text: 'it runs' })
        worker.fail()
      },
      'internal'
    ]
  ])('rejects what waits and what comes once %s', async (_, end, code) => {
    const { worker, start } = makeWorker()
    const keys = startSigningWorker('alice@example.com', 'a password', start)
    const waiting = keys.respond('one', 'login', 'localhost')
    end(keys, worker)
    await expect(waiting).rejects.toMatchObject({ code })
    await expect(keys.respond('two', 'login', 'localhost')).rejects.toMatchObject({ code })
    expect(worker.terminated).toBe(true)
  })

  test.each([
    ['alice', 'a password', { email: { rule: 'email' } }],
    ['alice@example.com', 'lone \ud800', { password: { rule: 'format' } }]
  ])('refuses %j with %j before a worker starts', (email, password, fields) => {
    const start = () => {
      throw new Error('started')
    }
    expect(() => startSigningWorker(email, password, start)).toThrow(
      expect.objectContaining({ code: 'invalid_input', fields })
    )
  })
})

type FakeWorker = ReturnType<typeof makeWorker>['worker']

function makeWorker() {
  const worker = {
    told: [] as unknown[],
    terminated: false,
    onmessage: null as PoolWorker['onmessage'],
    onerror: null as PoolWorker['onerror'],
    postMessage(message: unknown) {
      worker.told.push(message)
    },
    terminate() {
      worker.terminated = true
    },
    say(reply: SigningWorkerReply) {
      // as: the client needs no more of a Worker and its events than these members
      worker.onmessage?.call(worker as unknown as Worker, { data: reply } as MessageEvent)
    },
    fail() {
      worker.onerror?.call(worker as unknown as Worker, new Event('error') as ErrorEvent)
    }
  }
  return { worker, start: () => worker }
}
