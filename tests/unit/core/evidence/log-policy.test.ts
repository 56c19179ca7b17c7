import { expect, test } from 'vitest'
import { parseLogPolicy } from '../../../../src/core/evidence/log-policy.ts'
import { makeKey } from '../../../helpers/evidence/evidence-log.ts'

const log = makeKey('log.example/one', 1).vkey
const next = makeKey('log.example/one', 2).vkey
const [x, y] = [makeKey('x.example', 5, 4).vkey, makeKey('y.example', 6, 4).vkey]

test('reads the keys of logs and the quorum', () => {
  expect(parseLogPolicy(`log ${log}\nquorum none\n`)).toMatchObject({
    logs: [{ text: log }],
    quorum: 'none'
  })
  const pq = `a+01020304+${Buffer.alloc(1_313, 6).toString('base64')}`
  const text =
    `# keys\r\n`.replace('\r', '') +
    `
    \t log  ${log}\thttps://log.example/one  
log ${next}
log ${pq}
witness X ${x}
witness Y ${y} https://y.example/
group both all X Y
group most 2 X both
quorum most`
  const policy = parseLogPolicy(text)
  expect(policy.logs.map(each => each.text)).toEqual([log, next])
  expect(policy.quorum).toBe('most')
})

test.each([
  '',
  `log ${log}`,
  `log ${log}\nquorum none\nquorum none`,
  `log ${log}\nlog ${log}\nquorum none`,
  // the same key by another name
  `log ${log}\nlog ${makeKey('log.example/two', 1).vkey}\nquorum none`,
  `log ${log} https://a.example b\nquorum none`,
  'log\nquorum none',
  'log x\nquorum none',
  `witness X ${x}\nwitness X ${y}\nquorum none`,
  `witness X ${x}\nwitness Y ${x}\nquorum none`,
  `witness none ${x}\nquorum none`,
  `quorum X\nwitness X ${x}`,
  'quorum X',
  'quorum none none',
  `witness X ${x}\ngroup g 2 X\nquorum g`,
  `witness X ${x}\ngroup g 0 X\nquorum g`,
  `witness X ${x}\ngroup g 01 X\nquorum g`,
  `witness X ${x}\ngroup g most X\nquorum g`,
  `witness X ${x}\ngroup g any X X\nquorum g`,
  `witness X ${x}\ngroup g any\nquorum g`,
  'group g any none\nquorum g',
  'group g any g\nquorum g',
  'constructor x\nquorum none',
  '__proto__\nquorum none',
  `log ${log}\r\nquorum none\r\n`
])('is no policy: %j', text => {
  expect(() => parseLogPolicy(text)).toThrow()
})
