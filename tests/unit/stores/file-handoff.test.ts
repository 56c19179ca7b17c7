import { expect, test } from 'vitest'
import { offerFiles, takeOffer } from '../../../src/stores/file-handoff.ts'

const file = new File(['x'], 'a.pdf')

test('hands files over once, to the page they were meant for', () => {
  offerFiles({ to: 'deposit', files: [file], unreadable: ['locked'] })
  expect(takeOffer('verify')).toBeUndefined()
  expect(takeOffer('deposit')).toEqual({ to: 'deposit', files: [file], unreadable: ['locked'] })
  expect(takeOffer('deposit')).toBeUndefined()
})

test('offers nothing for nothing', () => {
  offerFiles({ to: 'verify', files: [], unreadable: [] })
  expect(takeOffer('verify')).toBeUndefined()
})
