import { expect, test } from 'vitest'
import { textsOf } from '../../../../scripts/texts.ts'
import { apiCalls } from '../../../../src/contract/openapi/openapi.ts'
import { sentencesIn } from '../../../../src/contract/openapi/sentences.ts'
import en from '../../../../src/i18n/en/docs.json' with { type: 'json' }

test('reads the sentences of calls and fields from the contract', () => {
  const source = `
/** Schema of what no call returns. */
export const Thing = z.object({
  /** The thing's name. */
  name: z.string()
})

/**
 * Returns a thing. \`id\` is
 * its id.
 */
export const getThing = endpoint({`
  expect(sentencesIn(source)).toEqual({
    calls: { getThing: 'Returns a thing. `id` is its id.' },
    others: { Thing: 'Schema of what no call returns.', name: 'The thing’s name.' }
  })
})

test('has an English sentence for each call in the contract, and in no other place', () => {
  const { calls } = textsOf('en')['docs'] as { calls: Record<string, string> }
  for (const name of Object.keys(apiCalls)) {
    expect(calls[name], `the JSDoc of ${name} in src/contract`).toMatch(/^[A-Z].*\.$/)
    expect(en.calls, 'src/i18n/en/docs.json').not.toHaveProperty(name)
  }
})
