import { expect, test } from 'vitest'
import { differencesOf } from '../../../src/core/differences.ts'

const was = { name: 'Staff', features: ['deposit'], max: 10 }

test('says who has changed a field that differs', () => {
  const mine = { name: 'Team', features: [], max: 10 }
  expect(differencesOf(was, mine, { name: 'Crew', features: ['deposit'], max: 20 })).toEqual([
    { name: 'name', mine: 'Team', theirs: 'Crew', changedBy: 'both' },
    { name: 'features', mine: [], theirs: ['deposit'], changedBy: 'me' },
    { name: 'max', mine: 10, theirs: 20, changedBy: 'them' }
  ])
})

test('finds no difference where both have saved the same', () => {
  const both = { name: 'Team', features: ['deposit'], max: 10 }
  expect(differencesOf(was, both, both)).toEqual([])
})

test('leaves out fields that are not to be saved', () => {
  expect(differencesOf(was, { name: 'Staff' }, { name: 'Staff', features: [], max: 1 })).toEqual([])
})
