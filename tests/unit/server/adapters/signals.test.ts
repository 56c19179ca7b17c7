import { expect, test } from 'vitest'
import { createServiceSignals } from '../../../../src/server/adapters/signals.ts'

const company = '0b9f4c3e-8a52-4d7e-9c11-2f6d5a7b8c90'

test('hears what other processes say', () => {
  const { say, heard } = makeWakes()
  say(`events ${company} ada`)
  say(`sessions ${company.toUpperCase()} eve`)
  say(`writers ${company} upload`)
  say('domains docs.acme.test')
  expect(heard).toEqual([
    ['events', { company, user: 'ada' }],
    ['sessions', { company, user: 'eve' }],
    ['writers', { company, upload: 'upload' }],
    ['domains', 'docs.acme.test']
  ])
})

test.each([
  '',
  'events',
  'events acme ada',
  `events ${company}`,
  `sessions ${company}x ada`,
  `sessions "; drop table company`,
  `news ${company} ada`,
  '\u0000 \ud800'
])('ignores %j, which anybody on the database may say', text => {
  const { say, heard } = makeWakes()
  say(text)
  expect(heard).toEqual([])
})

function makeWakes() {
  let say: (text: string) => void = () => undefined
  const signals = createServiceSignals({
    send: () => undefined,
    listen(listeners) {
      say = listeners.text
    }
  })
  const heard: [string, unknown][] = []
  signals.events.on(key => heard.push(['events', key]))
  signals.sessions.on(key => heard.push(['sessions', key]))
  signals.writers.on(key => heard.push(['writers', key]))
  signals.domains.on(host => heard.push(['domains', host]))
  return { say: (text: string) => say(text), heard }
}
