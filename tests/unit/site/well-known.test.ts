import { expect, test } from 'vitest'
import { wellKnownResponse } from '../../../src/site/well-known.ts'

const host = { origin: 'https://docs.acme.fr', contact: 'help@acme.fr', locale: 'fr' }

test('leads password managers to the account page in the reader’s language', () => {
  expect(wellKnownResponse('/.well-known/change-password', host)).toMatchObject({
    status: 302,
    headers: { location: '/fr/me' }
  })
})

test('names the company’s own contact for security, and none where there is none', () => {
  const now = new Date('2026-01-01T00:00:00Z')
  expect(wellKnownResponse('/.well-known/security.txt', host, now)?.body).toBe(
    [
      'Contact: mailto:help@acme.fr',
      'Expires: 2026-06-30T00:00:00.000Z',
      'Preferred-Languages: en, fr',
      'Canonical: https://docs.acme.fr/.well-known/security.txt',
      ''
    ].join('\n')
  )
  for (const contact of [undefined, 'the desk', 'a@b\nContact: evil', 'javascript:alert(1)']) {
    expect(wellKnownResponse('/.well-known/security.txt', { ...host, contact })).toBeUndefined()
  }
})

test('lets robots in and answers for nothing else', () => {
  expect(wellKnownResponse('/robots.txt', host)?.status).toBe(200)
  expect(wellKnownResponse('/.well-known/other', host)).toBeUndefined()
})
