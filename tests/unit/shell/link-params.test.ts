import { expect, test } from 'vitest'
import { withInvitationParameters } from '../../../src/shell/link-params.ts'

const page = '/en/sign-in'

test.each([
  ['', '', page],
  ['?email=a%40b.fr&username=Ada&x=1', '#k', `${page}?email=a%40b.fr&username=Ada#k`],
  ['?redirect=%7B%7D', '', `${page}?redirect=%7B%7D`]
])('carries what an invitation put into %s%s', (search, hash, href) => {
  expect(withInvitationParameters(`http://acme.test${page}`, { search, hash })).toBe(href)
})

test('drops what the present page no longer has', () => {
  expect(
    withInvitationParameters(`http://acme.test${page}?email=old%40b.fr#old`, {
      search: '',
      hash: ''
    })
  ).toBe(page)
})
