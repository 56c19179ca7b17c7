// @vitest-environment happy-dom
import type { ComponentType } from 'react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DataSource, RegisterVersion } from '../../../../src/contract/data-sources.ts'
import { errorCodes } from '../../../../src/contract/kit/errors.ts'
import type { RegisterImport } from '../../../../src/contract/register-imports.ts'
import { DataSourceDetail } from '../../../../src/islands/data-sources/DataSourceDetail.tsx'
import { DataSourceList } from '../../../../src/islands/data-sources/DataSourceList.tsx'
import { setBrowserEnvironment } from '../../../../src/stores/environment.ts'
import { $route } from '../../../../src/stores/routes.ts'
import { beginSession, signOut } from '../../../../src/stores/sessions.ts'
import { makeBrowser, makeToken } from '../../../helpers/browser.ts'
import { renderIsland, type } from '../../../helpers/islands.ts'

// as: `renderIsland` gives them their language and words
const Detail = DataSourceDetail as ComponentType<object>
const List = DataSourceList as ComponentType<object>
const id = '0199f2a0-0000-7000-8000-000000000001'
const company = '0199f2a0-0000-7000-8000-00000000000c'
const labels = (en: string, fr: string) => ({ en, fr })
const version: RegisterVersion = {
  number: 12,
  created: '2026-05-03T12:00:00Z',
  created_by: 'Iris Vale',
  mode: 'replace',
  rows: 20_000,
  added: 412,
  changed: 31,
  removed: 96,
  erased: false
}
const imported: RegisterImport = {
  id: '0199f2a0-0000-7000-8000-000000000002',
  data_source: id,
  mode: 'replace',
  file_name: 'diplomas.csv',
  bytes: 1_000,
  created: '2026-05-03T12:00:00Z',
  created_by: null,
  state: 'done',
  rows: 20_000,
  progress: null,
  counts: { new: 412, changed: 31, unchanged: 19_540, removed: 96, refused: 17 },
  warnings: [],
  failure: null,
  version: 12,
  undoable: true
}

/** What the server has. */
let source: DataSource
let categories: object[]
let sent: { method: string; path: string; body: unknown }[]
let island: ReturnType<typeof renderIsland> | undefined

beforeEach(async () => {
  const column = { index: 0, header: 'No', use: 'reference', shown: false } as const
  source = {
    id,
    version: 1,
    name: 'Diplomas',
    kind: 'csv',
    position: 0,
    created: '2026-05-01T12:00:00Z',
    columns: [
      { ...column, labels: labels('Diploma number', 'Numéro de diplôme') },
      { ...column, index: 1, use: 'check', labels: labels('Last name', 'Nom') },
      { ...column, index: 2, use: 'check', date: 'dmy', labels: labels('Date of birth', 'Né le') },
      { ...column, index: 3, use: 'shown', shown: true, labels: labels('Degree', 'Diplôme') },
      { ...column, index: 4, use: 'shown', shown: true, labels: labels('Year', 'Année') }
    ],
    current: version,
    checked: '2026-05-04T12:00:00Z',
    category_count: 1
  }
  categories = [
    {
      id: '0199f2a0-0000-7000-8000-000000000003',
      names: labels('Master’s degrees', 'Masters'),
      visibility: 'public',
      keep_originals: 'person',
      default: false,
      store: 'file',
      media_types: null,
      retention: null,
      version: 1,
      created: '2026-05-01T12:00:00Z',
      group_count: 0,
      data_sources: [id]
    }
  ]
  sent = []
  $route.open(`/en/admin/${company}/data_sources/${id}`)
  const browser = makeBrowser()
  const { environment } = browser.openTab('http://localhost:4321/en', async request => {
    const { pathname } = new URL(request.url)
    const body = request.method === 'GET' ? undefined : await request.text()
    sent.push({ method: request.method, path: pathname, body: body ? JSON.parse(body) : undefined })
    if (request.method === 'DELETE') {
      const code = 'in_use'
      return Response.json({ code, uses: { categories: 1 } }, { status: errorCodes[code] })
    }
    if (request.method === 'PUT') source = { ...source, version: source.version + 1 }
    if (pathname.endsWith('/undo')) return Response.json({ ...imported, state: 'undone' })
    if (pathname.endsWith('/imports')) return Response.json([imported])
    if (pathname.endsWith('/versions')) {
      const older = { ...version, number: 11, mode: 'append', created_by: null, erased: true }
      return Response.json([version, older])
    }
    if (pathname.endsWith('/categories')) return Response.json(categories)
    if (pathname.endsWith('/data_sources')) return Response.json([source])
    if (pathname === `/data_source/${id}`) return Response.json(source)
    return Response.json([])
  })
  setBrowserEnvironment(environment)
  await beginSession(makeToken({ sub: 'ada', exp: browser.now() / 1000 + 3600 }))
})
afterEach(async () => {
  island?.remove()
  await signOut()
  setBrowserEnvironment(undefined)
})

async function open(locale: 'en' | 'fr' = 'en') {
  island = renderIsland(Detail, {}, locale)
  const { place } = island
  await vi.waitFor(() => {
    expect(place.querySelector('[data-version="12"]')).not.toBeNull()
    expect(place.querySelector('[aria-labelledby=register-strangers] dl')).not.toBeNull()
  })
  return island
}

function textOf(heading: string): string {
  return island?.place.querySelector(`[aria-labelledby=${heading}]`)?.textContent ?? ''
}

test('says its figures, its columns in words, and what a stranger gives and sees', async () => {
  const { place } = await open()
  expect(place.querySelector('[data-figure=rows]')?.textContent).toContain('20,000')
  expect(place.querySelector('[data-figure=version]')?.textContent).toContain('12')
  expect(textOf('register-columns')).toContain(
    'Diploma number, checked with last name and date of birth; shows degree and year'
  )
  expect(textOf('register-strangers')).toContain('Diploma number, Last name, Date of birth')
  expect(textOf('register-strangers')).toContain('Degree, Year')
  expect(textOf('register-categories')).toContain('Master’s degrees')
  const link = place.querySelector<HTMLAnchorElement>('.btn-primary')
  expect(link?.getAttribute('href')).toBe(`/en/admin/${company}/data_sources/${id}/import`)
})

test('says the columns in French', async () => {
  await open('fr')
  expect(textOf('register-columns')).toContain(
    'Numéro de diplôme, à confirmer par\u00a0: nom et né le\u202f; affiche\u00a0: diplôme et année'
  )
})

test('shows strangers nothing while no category that everyone can verify names it', async () => {
  categories = []
  island = renderIsland(Detail, {})
  await vi.waitFor(() => expect(textOf('register-strangers')).toContain('Nothing: no category'))
  expect(textOf('register-categories')).toContain('No category uses this register yet')
})

test('lists versions with who made them, and says of old ones that only counts are kept', async () => {
  const { place } = await open()
  const cells = (number: number) => place.querySelector(`[data-version="${number}"]`)?.textContent
  expect(cells(12)).toContain('Iris Vale')
  expect(cells(12)).toMatch(/20,000.*412.*31.*96/s)
  expect(cells(12)).not.toContain('Rows erased')
  expect(cells(11)).toContain('Rows erased, counts kept.')
  expect(cells(11)).toContain('a program or a deleted person')
})

test('undoes an import after a question, and loads the figures again', async () => {
  const { button } = await open()
  button('Undo…').click()
  await vi.waitFor(() => button('Undo the import').click())
  const path = `/data_source/${id}/import/${imported.id}/undo`
  await vi.waitFor(() => expect(sent.map(call => call.path)).toContain(path))
  await vi.waitFor(() => {
    const after = sent.slice(sent.findIndex(call => call.path === path) + 1)
    expect(after.map(call => call.path)).toContain(`/data_source/${id}`)
  })
})

test('saves the labels of columns by their index', async () => {
  const { place, button } = await open()
  button('Edit labels').click()
  const field = () => place.querySelector<HTMLInputElement>('[name="labels.3.labels.en"]')
  await vi.waitFor(() => expect(field()?.value).toBe('Degree'))
  const degree = field()
  if (degree) type(degree, 'Diploma')
  button('Save').click()
  await vi.waitFor(() => expect(sent.some(({ method }) => method === 'PUT')).toBe(true))
  const { body } = sent.find(({ method }) => method === 'PUT') ?? {}
  expect(body).toMatchObject({ labels: { 3: { index: 3, labels: labels('Diploma', 'Diplôme') } } })
})

test('is not deleted while categories use it, and names them', async () => {
  const { place, button } = await open()
  button('Delete data source…').click()
  await vi.waitFor(() => button('Delete').click())
  await vi.waitFor(() => expect(place.textContent).toContain('Still used by: 1 category.'))
})

test('the list shows version, rows, last check and categories of each source', async () => {
  $route.open(`/en/admin/${company}/data_sources`)
  island = renderIsland(List, {})
  const row = () => island?.place.querySelector('tbody tr')?.textContent
  await vi.waitFor(() => expect(row()).toContain('Diplomas'))
  expect(row()).toContain('CSV file')
  expect(row()).toMatch(/12 of .*2026.*20,000.*2026.*1/s)
})
