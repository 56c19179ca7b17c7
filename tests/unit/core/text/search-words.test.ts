import { expect, test } from 'vitest'
import { foldText, splitSearchIntoWords } from '../../../../src/core/text/search-words.ts'

test.each([
  ['Été.PDF', 'ete.pdf'],
  ['BAIL ÇA', 'bail ca'],
  ['ΑΘΉΝΑ', 'αθηνα'],
  ['ДОГОВОР', 'договор'],
  ['İstanbul', 'istanbul'],
  ['ﬁche', 'fiche'],
  ['Carte de vœux.pdf', 'carte de voeux.pdf'],
  ['Main d’ŒUVRE', "main d'oeuvre"],
  ['HAUPTSTRAẞE, Hauptstraße', 'hauptstrasse, hauptstrasse'],
  ['Łódź', 'lodz'],
  ['Øystein Ødegård', 'oystein odegard'],
  ['Ægir Þór', 'aegir thor'],
  ['Đặng Văn', 'dang van'],
  ['ΟΔΟΣ οδός', 'οδοσ οδοσ'],
  ['Saint‑Malo – Cancale', 'saint-malo - cancale'],
  ['Iğdır', 'igdir']
])('compares %s as %s', (text, folded) => {
  expect(foldText(text)).toBe(folded)
})

test('looks for each word of what was typed', () => {
  expect(splitSearchIntoWords('  Bail\u00a0 été ')).toEqual(['bail', 'ete'])
  expect(splitSearchIntoWords(' \u0301')).toEqual([])
})
