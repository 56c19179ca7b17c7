import { expect, test } from 'vitest'
import { parseMailLinkFragment } from '../../../../src/stores/accounts/mail-link-fragment.ts'

test('reads token and e-mail of a mailed link', () => {
  const hash = new URLSearchParams({ t: 'abc', email: 'Ada+x@Example.com' })
  expect(parseMailLinkFragment(`#${hash}`)).toEqual({ token: 'abc', email: 'ada+x@example.com' })
})

test.each([
  '',
  '#',
  '#t=abc',
  '#email=ada%40example.com',
  '#t=&email=a%40b.fr',
  '#t=a&email=nobody'
])('takes "%s" for no link', hash => {
  expect(parseMailLinkFragment(hash)).toBeUndefined()
})
