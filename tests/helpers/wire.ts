import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const socketName = '.s.PGSQL.5432'

/**
 * Opens a Unix socket that forwards connections to PostgreSQL and records the statements sent, in
 * order. `holdAnswers()` holds back PostgreSQL's answers; it returns the function that lets them
 * pass again.
 */
export async function recordStatements(socketDir: string) {
  const directory = await mkdtemp(join(tmpdir(), 'wire-'))
  const statements: string[] = []
  const sockets = new Set<Socket>()
  let answers = Promise.resolve()
  const server = createServer(client => {
    const database = createConnection(join(socketDir, socketName))
    const read = statementReader(statement => statements.push(statement))
    client.on('data', bytes => {
      read(bytes)
      database.write(bytes)
    })
    database.on('data', bytes => void answers.then(() => client.write(bytes)))
    for (const [socket, other] of [
      [client, database],
      [database, client]
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => other.destroy())
    }
  })
  await new Promise<void>(resolve => server.listen(join(directory, socketName), resolve))
  return {
    socketDir: directory,
    statements,
    holdAnswers() {
      const { promise, resolve } = Promise.withResolvers<void>()
      answers = promise
      return resolve
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
      await rm(directory, { recursive: true, force: true })
    }
  }
}

/**
 * Returns a function that reads a client's messages (PostgreSQL documentation, 54.7) and reports
 * each statement that it runs.
 */
function statementReader(report: (statement: string) => void): (bytes: Buffer) => void {
  const prepared = new Map<string, string>()
  let unread = Buffer.alloc(0)
  // the first message has no type
  let typeBytes = 0
  return bytes => {
    unread = Buffer.concat([unread, bytes])
    while (unread.length >= typeBytes + 4) {
      const end = typeBytes + unread.readInt32BE(typeBytes)
      if (unread.length < end) return
      const type = typeBytes === 0 ? '' : unread.toString('latin1', 0, 1)
      const [first = '', second = ''] = unread.toString('utf8', typeBytes + 4, end).split('\0')
      unread = unread.subarray(end)
      typeBytes = 1
      if (type === 'Q') report(first)
      if (type === 'P') prepared.set(first, second)
      // of a portal and the statement bound to it
      if (type === 'B') report(prepared.get(second) ?? `unknown statement ${second}`)
    }
  }
}
