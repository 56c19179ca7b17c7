import { expect, test } from 'vitest'
import en from '../../../../src/i18n/en/deposit.json' with { type: 'json' }
import fr from '../../../../src/i18n/fr/deposit.json' with { type: 'json' }
import { translator } from '../../../../src/i18n/index.ts'
import { depositStateLabel } from '../../../../src/islands/deposit/deposit-labels.ts'

test.each([
  ['en', en],
  ['fr', fr]
] as const)('says of progress only what is known, in %s', (locale, deposit) => {
  const t = translator(locale, { deposit })
  // whether a file becomes a reduced picture is known only after it was prepared
  const preparing = depositStateLabel({ status: 'preparing' }, t, locale, 'random.tif')
  expect(preparing).not.toMatch(/deposit\.|reduc|copy|picture|réduit|réduc|copie|image/i)
  // of one file, 50 % may be done while none has ended
  for (const said of Object.values(deposit.announce)) {
    expect(said).toMatch(/\d\d\u202f?%/)
    expect(said).not.toMatch(/half|quarter|moitié|quart/i)
  }
})
