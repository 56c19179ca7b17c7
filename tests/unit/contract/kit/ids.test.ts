import { expect, test } from 'vitest'
import type * as z from 'zod/mini'
import { apiCalls } from '../../../../src/contract/openapi/openapi.ts'

const upper = '019A8F5E-7C00-7000-8000-00000000ABCD'

test('every id of an input is read in lower case', () => {
  const inputs = Object.entries(apiCalls).flatMap(([name, route]) => {
    const form = 'form' in route ? route.form : undefined
    return [route.input, ...(form ? [form] : [])].flatMap(schema =>
      idsOf(schema).map(id => ({ name, id }))
    )
  })
  const calls = inputs.map(({ name }) => name)
  expect(calls).toEqual(expect.arrayContaining(['updateGroup', 'getRequest', 'createDepositBatch']))
  for (const { name, id } of inputs) {
    expect([name, id._zod.run({ value: upper, issues: [] }, {})]).toMatchObject([
      name,
      { value: upper.toLowerCase(), issues: [] }
    ])
  }
})

function idsOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  // as: the union of all schemas tells its members apart
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'string') return 'format' in def && def.format === 'uuid' ? [schema] : []
  if (def.type === 'object') return Object.values(def.shape).flatMap(idsOf)
  if (def.type === 'array') return idsOf(def.element)
  if (def.type === 'union') return def.options.flatMap(idsOf)
  if (def.type === 'optional' || def.type === 'nullable') return idsOf(def.innerType)
  return []
}
