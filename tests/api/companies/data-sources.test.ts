import { afterAll, beforeAll, expect, test } from 'vitest'
import { getDataSource, listDataSources } from '../../../src/contract/data-sources.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeDataSource } from '../../helpers/cases.ts'
import { makeAdmins } from '../../helpers/matrix.ts'

let app: TestApp
let ada: TestPerson
let company: string

beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  company = ada.company
  await makeAdmins(app.owner)
})
afterAll(() => app[Symbol.asyncDispose]())

test('a company without data sources has an empty list', async () => {
  expect(await ada.call(listDataSources, { id: company })).toEqual([])
})

test('data sources are listed by name or age, in pages, and found by their ids', async () => {
  for (const name of ['Patents', 'Émaux', 'diplomas']) {
    await makeDataSource(app.owner, company, name)
  }
  const byName = await ada.call(listDataSources, { id: company })
  expect(byName.map(({ name }) => name)).toEqual(['diplomas', 'Émaux', 'Patents'])
  const byAge = await ada.call(listDataSources, { id: company, sort: '-created', limit: 2 })
  expect(byAge.map(({ name }) => name)).toEqual(['diplomas', 'Émaux'])
  const cursor = byAge[1]?.id ?? ''
  const rest = await ada.call(listDataSources, { id: company, sort: '-created', cursor })
  expect(rest.map(({ name }) => name)).toEqual(['Patents'])
  expect(await ada.call(getDataSource, { id: cursor })).toEqual(byAge[1])
})
