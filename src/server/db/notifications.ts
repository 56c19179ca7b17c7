import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type DatabaseLocation, requestLogin } from './connection-config.ts'

/**
 * What processes on one database tell each other. A notification is lost with the connection and says only
 * where to look, so whoever receives one also looks without.
 */
export interface Notifications extends AsyncDisposable {
  /** Says `text` to the other processes, if there are any; a text that waits to be said is not said twice. */
  send(text: string): void
  /** Listens to the other processes, and for times in which notifications may have been missed. */
  listen(listeners: { text: (text: string) => void; missed: () => void }): void
}

const channel = 'vidimus'
const applicationName = 'vidimus hints'
/** Said by whoever begins to listen, so that those who were alone know that they are not. */
const hello = 'hello'
const retryMillis = 250
/** What waits for a connection; beyond it notifications are dropped, because others look anyway. */
const maxWaiting = 1000

/** One connection that listens and speaks, made again whenever it is lost. */
export async function openNotifications(
  options: DatabaseLocation & { onError: (error: Error) => void }
): Promise<Notifications> {
  const self = randomBytes(8).toString('hex')
  const waiting = new Set<string>()
  const listeners: Parameters<Notifications['listen']>[0][] = []
  const closed = new AbortController()
  let client: pg.Client | undefined
  let isSending = false
  let isAlone = true

  async function connect(): Promise<pg.Client> {
    const fresh = new pg.Client({
      ...requestLogin(options),
      application_name: applicationName,
      keepAlive: true
    })
    // without a listener the loss of the server would end this process
    fresh.on('error', options.onError)
    fresh.on('notification', ({ payload = '' }) => {
      const [from, ...words] = payload.split(' ')
      if (from === self) return
      isAlone = false
      for (const listener of listeners) listener.text(words.join(' '))
    })
    await fresh.connect()
    await fresh.query(`listen ${channel}`)
    const { rows } = await fresh.query(othersSql, [applicationName])
    // whoever came alone and has heard nothing since has nobody to tell
    isAlone &&= rows[0].others === 0
    if (!isAlone) await fresh.query(`select pg_notify('${channel}', $1)`, [`${self} ${hello}`])
    return fresh
  }

  /** Lives as long as this object: a connection, its end, the next connection. */
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

  /** While one statement is under way the next notifications gather, so a flood becomes a few statements. */
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

/** Other processes that listen; where names of connections are hidden from us, any might be one. */
const othersSql = `
  select count(*)::int as others from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()
    and (application_name = $1 or application_name is null)`
