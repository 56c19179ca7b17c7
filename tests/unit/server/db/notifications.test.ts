import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openNotificationChannel } from '../../../../src/server/db/notifications.ts'
import { socketConnectionConfig } from '../../../../src/server/db/postgres.ts'
import { makeDb } from '../../../helpers/database.ts'

let made: Awaited<ReturnType<typeof makeDb>>
beforeAll(async () => {
  made = await makeDb()
})
afterAll(() => made[Symbol.asyncDispose]())

async function open() {
  const { socketDir, name } = made
  const hints = await openNotificationChannel({
    socketDir,
    database: name,
    onError: () => undefined
  })
  const heard: string[] = []
  hints.listen({ text: text => heard.push(text), missed: () => undefined })
  return { heard, send: hints.send, [Symbol.asyncDispose]: () => hints[Symbol.asyncDispose]() }
}

test('says nothing while nobody else listens, and everything from then on', async () => {
  const outsider = new pg.Client(socketConnectionConfig(made.socketDir, made.name, 'postgres'))
  await outsider.connect()
  const said: string[] = []
  outsider.on('notification', ({ payload = '' }) => said.push(payload.split(' ')[1] ?? ''))
  await outsider.query('listen vidimus')
  try {
    await using first = await open()
    first.send('alone')
    await using second = await open()
    second.send('second')
    await vi.waitFor(() => expect(first.heard).toContain('second'))
    first.send('first')
    await vi.waitFor(() => expect(second.heard).toEqual(['first']))
    await vi.waitFor(() => expect(said).toEqual(['hello', 'second', 'first']))
  } finally {
    await outsider.end()
  }
})
