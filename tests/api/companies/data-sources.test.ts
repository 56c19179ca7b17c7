import { afterAll, beforeAll, expect, test } from 'vitest'
import { listAuditEntries } from '../../../src/contract/audit.ts'
import {
  createCategory,
  listCompanyCategories,
  updateCategory
} from '../../../src/contract/company-categories.ts'
import {
  createDataSource,
  deleteDataSource,
  getDataSource,
  listDataSources,
  listRegisterVersions,
  updateDataSource
} from '../../../src/contract/data-sources.ts'
import { toCompanyId } from '../../../src/server/db/scope.ts'
import { eraseRowsOfDeletedSources } from '../../../src/server/domain/registers/data-sources.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeDataSource } from '../../helpers/cases.ts'
import { makeAdmins } from '../../helpers/matrix.ts'
import { diplomaColumns, makeRegister } from '../../helpers/registers.ts'

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

test('a data source is created, changed, audited and deleted', async () => {
  const made = await ada.call(createDataSource, { name: 'Certificates' })
  expect(made).toMatchObject({ position: 0, columns: [], current: null, checked: null })
  const changed = await ada.call(updateDataSource, { id: made.id, position: 4 })
  expect(changed).toEqual({ ...made, position: 4, version: 2 })
  await ada.call(deleteDataSource, { id: made.id })
  await expect(ada.call(getDataSource, { id: made.id })).rejects.toMatchObject({ status: 404 })
  const entries = await ada.call(listAuditEntries, { id: company, target: made.id })
  expect(entries.map(({ action, target }) => [action, target.name])).toEqual([
    ['data_source.delete', 'Certificates'],
    ['data_source.update', null],
    ['data_source.create', 'Certificates']
  ])
})

test('labels change by the index of their column, and unknown indexes are refused', async () => {
  const { id } = await makeRegister(app, company, { columns: diplomaColumns, rows: [] })
  const labels = { en: 'Diploma', fr: 'Diplôme' }
  const { columns } = await ada.call(updateDataSource, { id, labels: [{ index: 0, labels }] })
  expect(columns[0]).toEqual({ ...diplomaColumns[0], labels })
  expect(columns.slice(1)).toEqual(diplomaColumns.slice(1))
  const refused = ada.call(updateDataSource, { id, labels: [{ index: 99, labels }] })
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input' })
})

test('a category names its data sources, which then cannot be deleted', async () => {
  const [first, second] = [
    await ada.call(createDataSource, { name: 'Late', position: 2 }),
    await ada.call(createDataSource, { name: 'Early', position: 1 })
  ]
  const { id } = await ada.call(createCategory, { names: { en: 'With registers' } })
  const ids = [first.id, second.id]
  const { data_sources } = await ada.call(updateCategory, { id, data_sources: ids })
  expect(data_sources).toEqual([second.id, first.id])
  const named = await ada.call(listDataSources, { id: company, category: id })
  expect(named.map(each => [each.name, each.category_count])).toEqual([
    ['Early', 1],
    ['Late', 1]
  ])
  const naming = async (source: { id: string }) =>
    (await ada.call(listCompanyCategories, { id: company, data_source: source.id })).map(
      each => each.id
    )
  expect(await naming(first)).toEqual([id])
  await expect(ada.call(deleteDataSource, { id: first.id })).rejects.toMatchObject({
    code: 'in_use',
    uses: { categories: 1 }
  })
  await ada.call(updateCategory, { id, data_sources: [second.id] })
  expect([await naming(first), await naming(second)]).toEqual([[], [id]])
  await ada.call(updateCategory, { id, data_sources: [] })
  await ada.call(deleteDataSource, { id: first.id })
  const [entry] = await ada.call(listAuditEntries, { id: company, target: id })
  expect(entry?.changes).toContainEqual({
    field: 'data_source_ids',
    before: [second.id],
    after: []
  })
  expect(entry?.names).toEqual([{ id: second.id, name: 'Early' }])
})

test('the rows of a deleted source are erased in slices, and no others', async () => {
  const [gone, kept] = [
    await makeRegister(app, company, { columns: diplomaColumns, rows: [] }),
    await makeRegister(app, company, { columns: diplomaColumns, rows: [] })
  ]
  for (const [source_id, rows] of [
    [gone.id, 10_001],
    [kept.id, 5]
  ]) {
    await app.owner.query(
      `insert into register_row (company_id, source_id, segment, number, tag, content, row_hash, sealed)
       select $1, $2, 1, n, int4send(n), '', '', '' from generate_series(1, $3) n`,
      [company, source_id, rows]
    )
  }
  await ada.call(deleteDataSource, { id: gone.id })
  const id = toCompanyId(company)
  expect(await eraseRowsOfDeletedSources(app.deps, id)).toBe(true)
  expect(await eraseRowsOfDeletedSources(app.deps, id)).toBe(false)
  const { rows } = await app.owner.query(
    'select source_id, count(*)::int from register_row where company_id = $1 group by 1',
    [company]
  )
  expect(rows).toEqual([{ source_id: kept.id, count: 5 }])
})

test('versions are listed from the newest, in pages', async () => {
  const { id } = await makeRegister(app, company, { columns: diplomaColumns, rows: [] })
  await app.owner.query(
    `insert into register_version (company_id, source_id, number, segments, rows, root, mode,
       columns, added, changed, removed, actor_id, actor_company, created_at)
     select $1, $2, n, '{1}', n, '', 'append', '[]', 1, 0, 0, $3, $1, now()
     from generate_series(2, 3) n`,
    [company, id, ada.id]
  )
  const page = await ada.call(listRegisterVersions, { id, limit: 2 })
  expect(page.map(({ number, rows }) => [number, rows])).toEqual([
    [3, 3],
    [2, 2]
  ])
  expect(page[0]?.created_by).toEqual(expect.any(String))
  const rest = await ada.call(listRegisterVersions, { id, cursor: '2' })
  expect(rest).toEqual([(await ada.call(getDataSource, { id })).current])
})
