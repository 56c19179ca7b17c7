import { expect, test } from 'vitest'
import { handOffFiles, takeHandoff } from '../../../src/stores/file-handoff.ts'

const file = new File(['x'], 'a.pdf')

test('hands files over once, to the page they were meant for', () => {
  handOffFiles({ to: 'deposit', files: [file], unreadable: ['locked'] })
  expect(takeHandoff('verify')).toBeUndefined()
  expect(takeHandoff('deposit')).toEqual({ to: 'deposit', files: [file], unreadable: ['locked'] })
  expect(takeHandoff('deposit')).toBeUndefined()
})

test('offers nothing for nothing', () => {
  handOffFiles({ to: 'verify', files: [], unreadable: [] })
  expect(takeHandoff('verify')).toBeUndefined()
})
