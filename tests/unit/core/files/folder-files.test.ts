import { expect, test } from 'vitest'
import { isSystemFile, pathInFolder } from '../../../../src/core/files/folder-files.ts'

test.each([
  ['a/.DS_Store', true],
  ['a/Thumbs.db', true],
  ['a/b/desktop.ini', true],
  ['a/._bill.pdf', true],
  ['a/__MACOSX/bill.pdf', true],
  ['a/bill.pdf', false],
  ['a/.gitignore', false],
  ['a/my desktop.ini.pdf', false]
])('%s is a system file: %s', (path, expected) => {
  expect(isSystemFile(path)).toBe(expected)
})

test.each([
  ['2024/bill.pdf', 'bill.pdf'],
  ['2024/march/bill.pdf', 'march/bill.pdf'],
  ['/2024/march/bill.pdf', 'march/bill.pdf'],
  ['2024/e\u0301te\u0301/bill.pdf', '\u00e9t\u00e9/bill.pdf'],
  [`a/${'b'.repeat(200)}/${'c'.repeat(50)}/bill.pdf`, `${'c'.repeat(50)}/bill.pdf`],
  [`a/b/${'c'.repeat(300)}`, 'c'.repeat(300)]
])('names %s within its folder', (path, expected) => {
  expect(pathInFolder(path)).toBe(expected)
})
