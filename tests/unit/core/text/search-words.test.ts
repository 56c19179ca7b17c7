import { expect, test } from 'vitest'
import { foldText, searchWords } from '../../../../src/core/text/search-words.ts'

test.each([
  ['Été.PDF', 'ete.pdf'],
  ['BAIL ÇA', 'bail ca'],
  ['ΑΘΉΝΑ', 'αθηνα'],
  ['ДОГОВОР', 'договор'],
  ['İstanbul', 'istanbul'],
  ['ﬁche', 'fiche']
])('compares %s as %s', (text, folded) => {
  expect(foldText(text)).toBe(folded)
})

test('looks for each word of what was typed', () => {
  expect(searchWords('  Bail\u00a0 été ')).toEqual(['bail', 'ete'])
  expect(searchWords(' \u0301')).toEqual([])
})
