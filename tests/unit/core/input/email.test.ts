import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import published from '../../../../public/kdf-a1.json' with { type: 'json' }
import { canonicalEmail } from '../../../../src/core/input/email.ts'
import { kdfInput } from '../../../../src/core/keys/kdf.ts'
import { runCount } from '../../../helpers/soak.ts'

describe('canonical e-mail', () => {
  test.each(published.vectors)('$name', ({ email, email_c }) => {
    expect(canonicalEmail(email)).toBe(email_c)
  })

  test.each(published.refused_emails)('refuses: $reason', ({ email }) => {
    expect(canonicalEmail(email)).toBeUndefined()
  })

  // no row of the published file: strict JSON readers refuse it
  test.each(['al\ud800ice@example.com', 'alice@ex\udc00ample.com'])(
    'refuses a lone surrogate: %j',
    email => {
      expect(canonicalEmail(email)).toBeUndefined()
    }
  )

  test('is quick on long runs of blanks', () => {
    expect(canonicalEmail(`a${' '.repeat(200_000)}a@example.com`)).toBeUndefined()
  })

  // security.md A-02, E-02
  test('is idempotent and free of colons, controls and capitals', async () => {
    let accepted = 0
    await fc.assert(
      fc.property(typedEmail, text => {
        const email = canonicalEmail(text)
        if (email === undefined) return
        accepted++
        expect(email).toMatch(/^[!-9;-?^-~]{1,64}@[a-z0-9.-]+$/)
        expect(email.length).toBeLessThanOrEqual(254)
        expect(canonicalEmail(email)).toBe(email)
      }),
      { numRuns: runCount(10_000, 1_000_000) }
    )
    expect(accepted).toBeGreaterThan(2_000)
  })

  test('two pairs of e-mail and password never give the same bytes', async () => {
    const password = fc.string({ unit: fc.constantFrom('a', ':', '@', '.', 'com', 'x@x.com:') })
    await fc.assert(
      fc.property(typedEmail, password, typedEmail, password, (email1, first, email2, second) => {
        const [a, b] = [canonicalEmail(email1), canonicalEmail(email2)]
        if (a === undefined || b === undefined) return
        const same = Buffer.from(kdfInput(a, first)).equals(kdfInput(b, second))
        expect(same).toBe(a === b && first === second)
      }),
      { numRuns: runCount(10_000, 1_000_000) }
    )
  })
})

const atoms = fc.constantFrom('a', 'B', 'x', '+', '.', '-', "'", ':', '"', '@', 'é', '\u212a')
const labels = fc.constantFrom(
  'com',
  'Ex',
  'ß',
  'ä',
  'a\u0308',
  '-',
  '.',
  '..',
  '1',
  'ﬁ',
  '日本',
  '%'
)
const typedEmail = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('', ' ', '\t', '\n'),
      fc.string({ unit: atoms, maxLength: 4 }),
      fc.string({ unit: labels, maxLength: 5 }),
      fc.constantFrom('', '.com', '.Fr', '.xn--p1ai', '.1')
    )
    .map(([blank, local, domain, end]) => `${blank}a${local}@b${domain}${end}${blank}`),
  fc.emailAddress(),
  fc.string({ unit: 'binary' }).map(local => `${local}@example.com`),
  fc.string({ unit: 'binary' }).map(domain => `a@${domain}.com`)
)
