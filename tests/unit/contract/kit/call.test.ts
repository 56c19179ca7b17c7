import { expect, test } from 'vitest'
import { type CallOptions, call } from '../../../../src/contract/kit/call.ts'
import { getOwnAccount } from '../../../../src/contract/users.ts'

const base = 'https://api.example.com'

test('names an answer that is not JSON, such as the sign-in page of a network', async () => {
  const answer = async () => new Response('<h1>Welcome to the hotel</h1>')
  const called = call(getOwnAccount, {}, { base, fetch: answer })
  await expect(called).rejects.toMatchObject({ code: 'unexpected_answer' })
})

test('names an answer of another shape', async () => {
  const called = call(getOwnAccount, {}, { base, fetch: async () => Response.json({ id: 1 }) })
  await expect(called).rejects.toMatchObject({ code: 'unexpected_answer' })
})

test('says offline where the connection ends within the answer', async () => {
  const called = call(
    getOwnAccount,
    {},
    { base, fetch: answerThatEnds(new TypeError('network error')) }
  )
  await expect(called).rejects.toMatchObject({ code: 'offline' })
})

test('throws the reason of the caller who aborts within the answer', async () => {
  const controller = new AbortController()
  const reason = new Error('the page is closed')
  controller.abort(reason)
  const { signal } = controller
  const broken = answerThatEnds(new TypeError('aborted'))
  await expect(call(getOwnAccount, {}, { base, signal, fetch: broken })).rejects.toBe(reason)
  const refused = async () => Response.json({ code: 'internal' }, { status: 500 })
  await expect(call(getOwnAccount, {}, { base, signal, fetch: refused })).rejects.toBe(reason)
})

function answerThatEnds(reason: Error): NonNullable<CallOptions['fetch']> {
  return async () => new Response(new ReadableStream({ start: stream => stream.error(reason) }))
}
