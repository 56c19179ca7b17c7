import { expect, test } from 'vitest'
import { FileName, fileNameRules } from '../../../src/contract/deposits.ts'
import { fieldErrors } from '../../../src/contract/kit/field-errors.ts'
import en from '../../../src/i18n/en/fields.json' with { type: 'json' }

test('lists the rules that a file name can break, and all of them have a text', () => {
  const names = ['', 'a'.repeat(256), 'e\u0301', '\ud800', 'a\u0007']
  const broken = names.flatMap(name => {
    const { error } = FileName.safeParse(name)
    return Object.values(error ? fieldErrors(error) : {}).map(({ rule }) => rule)
  })
  expect([...new Set(broken)].sort()).toEqual([...fileNameRules].sort())
  expect(Object.keys(en)).toEqual(expect.arrayContaining([...fileNameRules]))
})
