import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createTerminalOutput, type StartSummary } from '../../../src/server/process-output.ts'

const facts: StartSummary = {
  address: 'http://localhost:4321',
  setupLink: 'http://localhost:4321/en/setup#code',
  demo: {
    address: 'http://demo.localhost:4321',
    account: { email: 'claire@example.com', password: 'wax' }
  },
  dataDir: '/srv/data',
  outbox: '/srv/data/outbox'
}

test('says what a person needs after a start, and no more than holds', () => {
  const { output, said } = open()
  output.ready(facts)
  expect(said()).toBe(`
Vidimus is running.

  Site           http://localhost:4321
  Demonstration  http://demo.localhost:4321
                 sign in as claire@example.com, password: wax
  Setup          http://localhost:4321/en/setup#code
                 open this link once to become the operator
  Data           /srv/data
  Mail           saved to /srv/data/outbox; links appear here
  Stop           Ctrl+C

`)
  const bare = open()
  bare.output.ready({ ...facts, setupLink: undefined, demo: undefined, outbox: undefined })
  expect(bare.said()).toBe(`
Vidimus is running.

  Site           http://localhost:4321
  Data           /srv/data
  Stop           Ctrl+C

`)
})

test('is silent about ordinary work, and short about what is not', () => {
  const { output, said } = open()
  output.log.info({ route: '/user', status: 200 }, 'request')
  output.log.info({ kind: 'email_confirm', file: '/srv/data/outbox/f.eml' }, 'mail written')
  const cause = new Error('no\r\n\u001b[2J answer')
  output.log.warn({ err: new Error('the mail waits', { cause }), email: 'a@b.c' }, 'job failed')
  output.log.error({ job: 'forget', status: 500, name: 'Ada' }, 'a page failed')
  expect(said()).toBe(`12:00:00 Mail (email confirm): /srv/data/outbox/f.eml
12:00:00 Warning: job failed: the mail waits: no [2J answer
12:00:00 Error: a page failed (job forget, status 500)
`)
})

test('names what a line is about, and of a long list only the first', () => {
  const { output, said } = open()
  const missing = ['aa', 'bb', 'cc', 'dd', 'ee']
  output.log.error({ company: 'c', missing, damaged: [] }, 'files are missing')
  output.log.warn({ host: undefined, reason: 'full', refused: 2 }, 'calls were refused')
  expect(said()).toBe(`12:00:00 Error: files are missing (company c, missing aa bb cc and 2 more)
12:00:00 Warning: calls were refused (reason full, refused 2)
`)
})

test.for([
  ['debug', 5],
  ['info', 4],
  ['warn', 2],
  ['error', 1],
  ['silent', 0]
] as const)('at level %s says %d lines', ([level, count]) => {
  const { output, said } = open({ level })
  output.starting()
  output.log.info({}, 'request')
  output.log.info({ file: 'f.eml' }, 'mail written')
  output.log.warn({}, 'slow')
  output.log.error({}, 'broken')
  expect(said().split('\n')).toHaveLength(count + 1)
})

test('paints where the terminal has colors', () => {
  const { output, said } = open({ depth: 8 })
  output.log.error({}, 'broken')
  expect(said()).toContain('\u001b[31mError\u001b[39m')
})

function open({ level = 'info', depth = 1 } = {}) {
  let text = ''
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    }
  })
  const stream = Object.assign(sink, { isTTY: true, getColorDepth: () => depth })
  const noon = () => new Date(2026, 0, 1, 12)
  return {
    output: createTerminalOutput(stream as unknown as NodeJS.WriteStream, level, noon),
    said: () => text
  }
}
