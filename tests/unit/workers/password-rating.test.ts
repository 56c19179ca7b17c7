import { expect, test } from 'vitest'
import { guessableWords, minPasswordStrength } from '../../../src/core/input/password.ts'
import { ratePassword } from '../../../src/workers/password-rating.ts'

const words = guessableWords({
  email: 'grace.hopper@example.com',
  username: 'Grace Hopper',
  company: 'Société Générale des Eaux',
  host: 'docs.eaux-vives.fr'
})

test.for([
  'password1234',
  'Password1234',
  'qwertyuiop12',
  'aaaaaaaaaaaa',
  '123456789012',
  'grace.hopper@example.com',
  'GraceHopper12',
  'gracehopper gracehopper',
  'docs.eaux-vives.fr',
  'société générale',
  'Mairie2026Mairie',
  'mairiemairiemairie',
  'Prairie-2025-prairie!',
  'Eauxvives2026eaux',
  'SocieteGenerale2026!',
  'hopper 1999 Generale 2026'
])('%s is too easy to guess', password => {
  expect(ratePassword(password, words)).toBeLessThan(minPasswordStrength)
})

test('the name of the company, twice and with a year, is too easy to guess there', () => {
  const there = guessableWords({
    email: 'a@example.com',
    username: 'A',
    company: 'Mairie',
    host: 'docs.example.com'
  })
  expect(ratePassword('Mairie2026Mairie', there)).toBeLessThan(minPasswordStrength)
})

test.for([
  'a long sentence to keep',
  'seven green bicycles in the rain',
  'un vélo vert sous la pluie',
  'x9!kfPq2mZ7a',
  'green horses of 1987 sing green songs',
  'ﬁve wide ﬂoors of oﬃces',
  '長い文章は良いパスワードです'
])('%s is hard to guess', password => {
  expect(ratePassword(password, words)).toBeGreaterThanOrEqual(minPasswordStrength)
})

test('calls no password good that is refused for its length', () => {
  for (const password of ['mairie2026', 'x9!kfPq2mZ7']) {
    expect(ratePassword(password, [])).toBeLessThan(minPasswordStrength)
  }
})

test('judges one spelling of a password like another', () => {
  const [composed, decomposed] = ['été à la mer'.normalize('NFC'), 'été à la mer'.normalize('NFD')]
  expect(ratePassword(composed, words)).toBe(ratePassword(decomposed, words))
})

test('takes a listed password for guessed, in any case and width', () => {
  for (const password of ['trustno1', 'TRUSTNO1', 'ｔｒｕｓｔｎｏ１']) {
    expect(ratePassword(password, [])).toBe(0)
  }
})

test('judges a thousand characters in no more time than a person waits', () => {
  expect(ratePassword('aA1!'.repeat(256), words)).toBeLessThanOrEqual(4)
})
