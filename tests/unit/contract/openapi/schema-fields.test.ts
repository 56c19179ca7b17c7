import { expect, test } from 'vitest'
import { inputSchema, outputSchema } from '../../../../src/contract/openapi/json-schema.ts'
import { apiCalls } from '../../../../src/contract/openapi/openapi.ts'
import { alternativesOf, fieldsOf } from '../../../../src/contract/openapi/schema-fields.ts'

test('names one type of a field, and says beside it that it may be null', () => {
  const schema = { type: 'object', properties: { left: { type: ['number', 'null'] } } }
  expect(fieldsOf(schema)).toMatchObject([{ name: 'left', type: 'number', isNullable: true }])
})

test('names no type that is a list of types, of any call', () => {
  for (const { input } of Object.values(apiCalls)) {
    const all = alternativesOf(inputSchema(input)).flatMap(each => fieldsOf(each))
    for (const { type } of all) expect(type).toMatch(/^[\w-]+$/)
  }
})

test('keeps the forms apart that one body may have', () => {
  const { createUser, createDeposit } = apiCalls
  if (!createUser || createDeposit?.kind !== 'endpoint') throw new Error('the calls are gone')
  const taken = alternativesOf(inputSchema(createUser.input)).map(namesOf)
  expect(taken).toHaveLength(2)
  expect(taken[0]).toContain('public_key_jwt')
  expect(taken[1]).not.toContain('public_key_jwt')
  const answered = alternativesOf(outputSchema(createDeposit.output).schema).map(namesOf)
  expect(answered).toHaveLength(2)
  expect(answered[0]).toEqual(['duplicate'])

  function namesOf(schema: Parameters<typeof fieldsOf>[0]): string[] {
    return fieldsOf(schema).map(({ name }) => name)
  }
})
