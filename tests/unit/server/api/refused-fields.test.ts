import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { parseFields } from '../../../../src/server/api/kit/refused-fields.ts'

const schema = z.strictObject({ name: z.string(), word: z.string().check(z.regex(/^a/, 'an a')) })

beforeAll(async () => {
  // biome-ignore lint/style/noRestrictedImports: as Astro does
  const { string } = await import('zod')
  string() // the first schema sets messages for all schemas of the process
})

test('says in words of its own what is wrong, however long the names of unknown fields are', () => {
  const refused = parseFields(schema, { name: 1, word: 'b', ['k'.repeat(100_000)]: 1 })
  if (refused.success) throw new Error('the input was taken')
  expect(refused.error.code).toBe('invalid_input')
  expect(refused.error.message).toContain('name (text); word (an a); ')
  expect(refused.error.message).toContain('… (no field of this call)')
  expect(refused.error.message.length).toBeLessThan(200)
})
