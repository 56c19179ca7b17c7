import fc from 'fast-check'

const pieces = [
  '',
  '.',
  '..',
  '=',
  '-',
  '_',
  'A',
  'B',
  '+',
  '/',
  ' ',
  '\n',
  '\0',
  'é',
  '\ud800',
  'e30'
]

/**
 * Returns a fast-check generator of texts for parser tests. Most texts are `good` with up to three
 * changes. Others consist of segments of `good` in another order, or of random characters. A few
 * are `good` itself.
 */
export function corruptedText(good: string): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat({ max: good.length }),
    cut: fc.constantFrom(0, 1, 1, 1, 5),
    put: fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...good))
  })
  const changed = fc
    .array(change, { maxLength: 3 })
    .map(changes =>
      changes.reduce(
        (text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut),
        good
      )
    )
  const segments = fc
    .array(fc.oneof(fc.constantFrom(...good.split('.')), fc.base64String({ maxLength: 20 })), {
      maxLength: 6
    })
    .map(parts => parts.join('.'))
  return fc.oneof(
    { weight: 8, arbitrary: changed },
    { weight: 2, arbitrary: segments },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) }
  )
}
