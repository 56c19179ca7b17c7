import { expect, test } from 'vitest'
import {
  isForeignDomChangeError,
  recordReloadIfAllowed
} from '../../../../src/shell/builds/lost-files.ts'

test('reloads a path at most once in ten seconds', () => {
  const storage = memory()
  expect(recordReloadIfAllowed('/en', 100_000, storage)).toBe(true)
  expect(recordReloadIfAllowed('/en', 109_999, storage)).toBe(false)
  expect(recordReloadIfAllowed('/fr', 109_999, storage)).toBe(true)
  expect(recordReloadIfAllowed('/en', 110_000, storage)).toBe(true)
})

test.each([
  [
    'Chrome',
    true,
    lost(
      "Failed to execute 'insertBefore' on 'Node': The node before which the new node is to be inserted is not a child of this node."
    )
  ],
  ['Firefox', true, lost('Node.insertBefore: Child to insert before is not a child of this node')],
  ['Safari', true, lost('The object can not be found here.', 'insertBefore@[native code]\nplace@')],
  ['another method', false, lost('The object can not be found here.', 'removeChild@[native code]')],
  ['another error', false, new TypeError('insertBefore is not a function')],
  ['no error', false, undefined]
])('knows a page that something else has rearranged: %s', (_name, isForeign, error) => {
  expect(isForeignDomChangeError(error)).toBe(isForeign)
})

function lost(message: string, stack = ''): DOMException {
  const error = new DOMException(message, 'NotFoundError')
  Object.defineProperty(error, 'stack', { value: stack })
  return error
}

function memory(): Pick<Storage, 'getItem' | 'setItem'> {
  const items = new Map<string, string>()
  return {
    getItem: key => items.get(key) ?? null,
    setItem: (key, value) => {
      items.set(key, value)
    }
  }
}
