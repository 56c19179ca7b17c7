import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { appDatabaseRole } from '../../src/server/db/connection-config.ts'
import { socketConnectionConfig } from '../../src/server/db/postgres.ts'
import { newId, newRandomId } from '../../src/server/domain/ids.ts'
import { runLoad } from '../load.ts'
import type { CapturedStatement } from '../service-internals.ts'

interface Setup {
  socketDir: string
  callers: number
  /** Undefined if the statements set the company themselves. */
  company?: string
}

interface Replay {
  seconds: number
  callers: number
  /**
   * Of two calls of the same kind. What differs between them, such as ids, is new in each
   * repetition.
   */
  twice: [CapturedStatement[], CapturedStatement[]]
}

interface LookUps {
  seconds: number
  callers: number
  statement: CapturedStatement
  /** Lists of keyed hashes (tags), used in turn as the only parameter of the statement. */
  batches: Uint8Array[][]
}

const deps = {
  clock: () => new Date(),
  random: (length: number) => new Uint8Array(randomBytes(length))
}

/** One connection for each caller, in the role that serves HTTP requests. */
export async function replayStatements({ socketDir, callers, company }: Setup) {
  const clients = Array.from(
    { length: callers },
    () => new pg.Client(socketConnectionConfig(socketDir, 'vidimus', appDatabaseRole))
  )
  for (const client of clients) {
    await client.connect()
    if (company) await client.query("select set_config('app.company_id', $1, false)", [company])
  }
  const clientOf = (caller: number) => {
    const client = clients[caller]
    if (!client) throw new Error('there are fewer connections than callers')
    return client
  }

  return async (question: Replay | LookUps) => {
    const { seconds, callers: asked } = question
    const work = 'twice' in question ? replay(question) : lookUp(question)
    return runLoad({ callers: asked, seconds, work })
  }

  function replay({ twice }: Replay) {
    const repeat = repeater(...twice)
    return async (caller: number) => {
      const client = clientOf(caller)
      for (const statement of repeat()) await client.query(statement)
    }
  }

  function lookUp({ statement, batches }: LookUps) {
    let next = 0
    return async (caller: number) => {
      const batch = batches[next++ % batches.length] ?? []
      const tags = batch.map(tag => Buffer.from(tag))
      const values = statement.values.map(value => (Array.isArray(value) ? tags : value))
      await clientOf(caller).query({ ...statement, values })
    }
  }
}

const recordId = /^[\w-]{22}$/
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

// replaces each id that differs between the two calls with a new one, wherever it occurs
function repeater(
  first: CapturedStatement[],
  second: CapturedStatement[]
): () => CapturedStatement[] {
  const isSame = first.every(({ text }, at) => text === second[at]?.text)
  if (!isSame || first.length !== second.length) {
    throw new Error('the same call has other statements the second time')
  }
  const ids = new Set<string>()
  const changes = first.map(({ values }, at) =>
    values.map((value, index) => {
      const differs = JSON.stringify(value) !== JSON.stringify(second[at]?.values[index])
      for (const each of differs ? [value].flat() : []) {
        if (typeof each === 'string' && (uuid.test(each) || recordId.test(each))) ids.add(each)
      }
      return differs
    })
  )
  return () => {
    const fresh = new Map(
      [...ids].map(id => [id, uuid.test(id) ? newId(deps) : newRandomId(deps)] as const)
    )
    return first.map((statement, at) => ({
      ...statement,
      values: statement.values.map((value, index) =>
        changes[at]?.[index] ? renewed(value, fresh) : value
      )
    }))
  }
}

function renewed(value: unknown, fresh: Map<string, string>): unknown {
  if (Array.isArray(value)) return value.map(each => renewed(each, fresh))
  if (value instanceof Date) return new Date()
  if (value instanceof Uint8Array) return randomBytes(value.length)
  if (typeof value !== 'string') return value
  let text = value
  for (const [old, id] of fresh) text = text.replaceAll(old, id)
  return text
}
