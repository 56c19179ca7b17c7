import { expect, test } from 'vitest'
import { foldText, splitSearchIntoWords } from '../../../../src/core/text/search-words.ts'

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
  expect(splitSearchIntoWords('  Bail\u00a0 été ')).toEqual(['bail', 'ete'])
  expect(splitSearchIntoWords(' \u0301')).toEqual([])
})
