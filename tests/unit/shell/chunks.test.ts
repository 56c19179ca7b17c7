import { expect, test } from 'vitest'
import { mayReload } from '../../../src/shell/chunks.ts'

test('reloads a path at most once in ten seconds', () => {
  const storage = memory()
  expect(mayReload('/en', 100_000, storage)).toBe(true)
  expect(mayReload('/en', 109_999, storage)).toBe(false)
  expect(mayReload('/fr', 109_999, storage)).toBe(true)
  expect(mayReload('/en', 110_000, storage)).toBe(true)
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
