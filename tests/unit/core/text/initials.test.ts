import { expect, test } from 'vitest'
import { initials, shortInitials } from '../../../../src/core/text/initials.ts'

test.each([
  ['Ada Lovelace', 'AL'],
  ['ada', 'a'],
  ['  Jean-Paul   de la Tour ', 'JdlT'],
  ['Élodie Ñandú', 'ÉÑ'],
  ['E\u0301lodie', 'É'],
  ['«Zoé» (Admin)', 'ZA'],
  ['山田 太郎', '山太'],
  ['42 😀', '4😀'],
  ['Ada Durand — Mairie', 'ADM'],
  ['Müller & Söhne + Co', 'MSC'],
  ['', ''],
  ['  ', '']
])('takes the initials of %j', (username, expected) => {
  expect(initials(username)).toBe(expected)
})

test.each([
  ['AL', 'AL'],
  ['ABCDE', 'ABC'],
  ['E\u0301BCD', 'E\u0301BC'],
  ['', '']
])('draws at most three initials of %s', (all, drawn) => {
  expect(shortInitials(all)).toBe(drawn)
})
