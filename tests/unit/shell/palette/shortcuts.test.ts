import { expect, test } from 'vitest'
import { shortcutTargetOf } from '../../../../src/shell/palette/shortcuts.ts'

const press = { key: 'k', altKey: false, ctrlKey: false, metaKey: false, isComposing: false }
const place = { isApple: false, isInField: false, hasCharacterKeys: true }

test.each([
  ['Ctrl+K', { ctrlKey: true }, {}, 'palette'],
  ['Ctrl+K with the capitals on', { key: 'K', ctrlKey: true }, {}, 'palette'],
  ['Ctrl+K in a field', { ctrlKey: true }, { isInField: true }, 'palette'],
  ['Cmd+K on a Mac', { metaKey: true }, { isApple: true }, 'palette'],
  ['Ctrl+K on a Mac, which deletes to the end of the line', { ctrlKey: true }, { isApple: true }],
  ['Windows+K', { metaKey: true }, {}],
  ['AltGr+K', { ctrlKey: true, altKey: true }, {}],
  ['the letter k', {}, {}],
  ['?', { key: '?' }, {}, 'help'],
  ['? in a field', { key: '?' }, { isInField: true }],
  ['? where it is switched off', { key: '?' }, { hasCharacterKeys: false }],
  ['Ctrl+?', { key: '?', ctrlKey: true }, {}],
  ['a sign of a writing system', { key: '?', isComposing: true }, {}]
] as const)('%s', (_, key, where, opened?: string) => {
  expect(shortcutTargetOf({ ...press, ...key }, { ...place, ...where })).toBe(opened)
})
