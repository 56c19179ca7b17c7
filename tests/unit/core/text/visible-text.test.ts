import { expect, test } from 'vitest'
import { withoutDirectionControls } from '../../../../src/core/text/visible-text.ts'

test.each([
  ['photo\u202Egpj.exe', 'photogpj.exe'],
  ['\u2067bill\u2069.pdf', 'bill.pdf'],
  ['\u05D0\u200F.pdf', '\u05D0.pdf'],
  ['\u{1F469}\u200D\u{1F467}.png', '\u{1F469}\u200D\u{1F467}.png'],
  ['\u0645\u06CC\u200C\u062E.pdf', '\u0645\u06CC\u200C\u062E.pdf']
])('shows %j as %j', (name, shown) => {
  expect(withoutDirectionControls(name)).toBe(shown)
})
