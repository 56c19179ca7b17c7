import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { appRoleConnectionConfig, type DatabaseLocation } from './connection-config.ts'
import { notificationConnectionName, notificationConnectionPrefix } from './processes.ts'

/**
 * A message only tells its receivers to look into the database. They also look there at regular
 * intervals, because messages are lost while a connection is down.
 */
export interface NotificationListener extends AsyncDisposable {
  readonly process: string
  /** Does nothing if the same text is already waiting to be sent. */
  send(text: string): void
  /** `missed` is called after a reconnection, because messages may have been lost. */
  listen(listeners: { text: (text: string) => void; missed: () => void }): void
}

const channel = 'vidimus'
// a process that was alone at its start sends no messages before it receives this one
const hello = 'hello'
const retryMillis = 250
// further messages are dropped, because their receivers also look into the database
const maxWaiting = 1000

export async function openNotificationChannel(
  options: DatabaseLocation & { onError: (error: Error) => void }
): Promise<NotificationListener> {
  const self = randomBytes(8).toString('hex')
  const waiting = new Set<string>()
  const listeners: Parameters<NotificationListener['listen']>[0][] = []
  const closed = new AbortController()
  let client: pg.Client | undefined
  let isSending = false
  let isAlone = true

  async function connect(): Promise<pg.Client> {
    const fresh = new pg.Client({
      ...appRoleConnectionConfig(options),
      application_name: notificationConnectionName(self),
      keepAlive: true
    })
    // without a listener, losing the server would end this process
    fresh.on('error', options.onError)
    fresh.on('notification', ({ payload = '' }) => {
      const [from, ...words] = payload.split(' ')
      if (from === self) return
      isAlone = false
      for (const listener of listeners) listener.text(words.join(' '))
    })
    await fresh.connect()
    await fresh.query(`listen ${channel}`)
    const { rows } = await fresh.query(othersSql, [notificationConnectionPrefix])
    // a process that found no others at its start and has received no `hello` since has nobody to
    // notify
    isAlone &&= rows[0].others === 0
    if (!isAlone) await fresh.query(`select pg_notify('${channel}', $1)`, [`${self} ${hello}`])
    return fresh
  }

  async function keep(first: pg.Client): Promise<void> {
    let next: pg.Client | undefined = first
    while (!closed.signal.aborted) {
      if (next) {
        const ended = new Promise(resolve => next?.once('end', resolve))
        client = next
        void flush()
        await ended
        client = undefined
      }
      if (closed.signal.aborted) return
      await sleep(retryMillis, undefined, { signal: closed.signal }).catch(() => undefined)
      next = await connect().catch(() => undefined)
      if (closed.signal.aborted) await next?.end()
      else if (next) for (const listener of listeners) listener.missed()
    }
  }

  async function flush(): Promise<void> {
    if (isSending) return
    isSending = true
    while (client && waiting.size > 0) {
      const texts = [...waiting].map(text => `${self} ${text}`)
      waiting.clear()
      await client
        .query(`select pg_notify('${channel}', text) from unnest($1::text[]) as text`, [texts])
        .catch(options.onError)
    }
    isSending = false
  }

  const kept = keep(await connect())
  return {
    process: self,
    send(text) {
      if (isAlone) return
      if (waiting.size < maxWaiting) waiting.add(text)
      void flush()
    },
    listen(listener) {
      listeners.push(listener)
    },
    async [Symbol.asyncDispose]() {
      closed.abort()
      await client?.end().catch(() => undefined)
      await kept
    }
  }
}

// also counts connections whose name this role may not read: a process may be listening there
const othersSql = `
  select count(*)::int as others from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()
    and (starts_with(application_name, $1) or application_name is null)`
