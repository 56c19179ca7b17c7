import { expect, test } from 'vitest'
import { apiCalls, createOpenApiDocument } from '../../../../src/contract/openapi/openapi.ts'

type Operation = { operationId: string; parameters: { name: string; in: string }[] }

test('describes If-Match for each call that fails where its resource has changed, and no other', () => {
  const { paths } = createOpenApiDocument({
    title: 'Vidimus',
    sentenceOf: name => name
  }) as { paths: Record<string, Record<string, Operation>> } // as: OpenAPI's own shape
  const operations = Object.values(paths).flatMap(methods => Object.values(methods))
  const described = operations
    .filter(({ parameters }) => parameters.some(({ name }) => name === 'If-Match'))
    .map(({ operationId }) => operationId)
  const refusing = Object.entries(apiCalls)
    .filter(([, { errors }]) => errors.includes('changed_meanwhile'))
    .map(([name]) => name)
  expect(described.toSorted()).toEqual(refusing.toSorted())
  expect(described).toContain('publishTheme')
  expect(described).not.toContain('createDomain')
})
