import { expect, test } from 'vitest'
import { recordReloadIfAllowed } from '../../../../src/shell/builds/lost-files.ts'

test('reloads a path at most once in ten seconds', () => {
  const storage = memory()
  expect(recordReloadIfAllowed('/en', 100_000, storage)).toBe(true)
  expect(recordReloadIfAllowed('/en', 109_999, storage)).toBe(false)
  expect(recordReloadIfAllowed('/fr', 109_999, storage)).toBe(true)
  expect(recordReloadIfAllowed('/en', 110_000, storage)).toBe(true)
})

function memory(): Pick<Storage, 'getItem' | 'setItem'> {
  const items = new Map<string, string>()
  return {
    getItem: key => items.get(key) ?? null,
    setItem: (key, value) => {
      items.set(key, value)
    }
  }
}
