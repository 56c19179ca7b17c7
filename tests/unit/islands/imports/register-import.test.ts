// @vitest-environment happy-dom
import { createElement } from 'react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { textsOf } from '../../../../scripts/texts.ts'
import type { DataSource } from '../../../../src/contract/data-sources.ts'
import {
  type RegisterImport,
  RegisterImportFailure,
  RegisterRowReason
} from '../../../../src/contract/register-imports.ts'
import { locales, translator } from '../../../../src/i18n/index.ts'
import { RegisterCheckStep } from '../../../../src/islands/imports/RegisterCheckStep.tsx'
import { RegisterColumnsStep } from '../../../../src/islands/imports/RegisterColumnsStep.tsx'
import {
  changesNothing,
  describeDryRun
} from '../../../../src/islands/imports/register-import-words.ts'
import { setBrowserEnvironment } from '../../../../src/stores/environment.ts'
import { $importFile } from '../../../../src/stores/imports/import-file.ts'
import {
  $registerColumns,
  closeRegisterImport,
  readRegisterFile
} from '../../../../src/stores/imports/register-imports.ts'
import { $route } from '../../../../src/stores/routes.ts'
import { beginSession, signOut } from '../../../../src/stores/sessions.ts'
import { inspectFile } from '../../../../src/workers/csv-files.ts'
import { makeBrowser, makeToken } from '../../../helpers/browser.ts'
import { renderIsland } from '../../../helpers/islands.ts'

const id = '0199f2a0-0000-7000-8000-000000000001'
const source: DataSource = {
  id,
  version: 1,
  name: 'Diplomas',
  kind: 'csv',
  position: 0,
  created: '2026-05-01T12:00:00Z',
  columns: [],
  current: null,
  checked: null,
  category_count: 0
}
const checked: RegisterImport = {
  id: '0199f2a0-0000-7000-8000-000000000002',
  data_source: id,
  mode: 'replace',
  file_name: 'diplomas.csv',
  bytes: 1_000,
  created: '2026-05-03T12:00:00Z',
  created_by: null,
  state: 'checked',
  rows: 20_000,
  progress: null,
  counts: { new: 412, changed: 31, unchanged: 19_540, removed: 0, refused: 17 },
  warnings: [],
  failure: null,
  version: null,
  undoable: false
}
const current = {
  number: 12,
  created: '2026-05-03T12:00:00Z',
  created_by: null,
  mode: 'replace',
  rows: 20_000,
  added: 0,
  changed: 0,
  removed: 0,
  erased: false
} as const

let sent: { path: string; body: unknown }[]
let island: ReturnType<typeof renderIsland> | undefined

beforeEach(async () => {
  sent = []
  $route.open(`/en/admin/0199f2a0-0000-7000-8000-00000000000c/data_sources/${id}/import`)
  const browser = makeBrowser()
  const { environment } = browser.openTab('http://localhost:4321/en', async request => {
    const { pathname } = new URL(request.url)
    const body = request.method === 'GET' ? undefined : await request.text()
    sent.push({ path: pathname, body: body ? JSON.parse(body) : undefined })
    if (pathname.endsWith('/rows')) {
      const reasons = [{ code: 'date_format', header: 'Born' }]
      return Response.json({ rows: [{ row: 7, reasons, cells: ['D-7', 'May 3'] }], next: null })
    }
    if (request.method === 'POST' && pathname.endsWith('/import'))
      return Response.json(
        { import: { ...checked, state: 'reading' }, upload: null },
        { status: 201 }
      )
    return Response.json({ ...checked, state: 'done' })
  })
  setBrowserEnvironment({
    ...environment,
    csvReader: async () => ({
      inspect: inspectFile,
      count: () => Promise.reject(new Error('a register is counted by the service')),
      take: () => Promise.reject(new Error('no rows are read here'))
    })
  })
  await beginSession(makeToken({ sub: 'ada', exp: browser.now() / 1000 + 3600 }))
})
afterEach(async () => {
  island?.remove()
  island = undefined
  closeRegisterImport()
  await signOut()
  setBrowserEnvironment(undefined)
})

async function openColumns(csv: string, of = source) {
  await readRegisterFile(of, new File([csv], 'diplomas.csv'))
  const file = $importFile.get()
  if (file.status !== 'read') throw new Error(file.status)
  const steps: string[] = []
  const props = {
    source: of,
    file,
    onBack: () => {},
    onCreated: (made: string) => void steps.push(made)
  }
  island = renderIsland(RegisterColumnsStep, props)
  return { ...island, steps }
}

function openCheck(item: RegisterImport, of: DataSource = { ...source, current }) {
  const props = {
    source: of,
    state: { status: 'ready', item } as const,
    onAgain: () => {},
    onBack: () => {}
  }
  island = renderIsland(() => createElement(RegisterCheckStep, props), {})
  return island
}

describe('the columns', () => {
  const csv =
    'Diploma number;Last name;Date of birth;Degree;Email\nD-1;Vale;03/05/1999;Master;a@b.fr\n'

  test('are guessed, and a date asks once for its order before the file is sent', async () => {
    const { place, button, steps } = await openColumns(csv)
    const kept = () =>
      [...place.querySelectorAll('[data-column]')].map(each => each.getAttribute('aria-label'))
    expect(kept()).toEqual(['Diploma number', 'Last name', 'Date of birth', 'Degree'])
    expect(place.textContent).toContain('1 column of the file is not stored.')
    const start = button('Upload and check')
    expect(start.disabled).toBe(true)
    expect(place.textContent).toContain('These look like dates.')
    const select = place.querySelector<HTMLSelectElement>('[data-column="2"] select')
    if (!select) throw new Error('no choice of the order')
    select.value = 'dmy'
    select.dispatchEvent(new Event('change', { bubbles: true }))
    await vi.waitFor(() => expect(start.disabled).toBe(false))
    start.click()
    await vi.waitFor(() => expect(steps).toEqual([checked.id]))
    const { body } = sent.find(({ path }) => path.endsWith('/import')) ?? {}
    expect(body).toMatchObject({
      mode: 'replace',
      file_name: 'diplomas.csv',
      bytes: csv.length,
      dialect: { delimiter: ';', encoding: 'utf-8', newline: '\n', has_header: true, first_row: 1 },
      columns: [
        { index: 0, use: 'reference', shown: false },
        { index: 1, use: 'check', shown: false, labels: { en: 'Last name', fr: 'Nom' } },
        { index: 2, use: 'check', date: 'dmy' },
        { index: 3, use: 'shown', shown: true }
      ]
    })
  })

  test('of a list of fingerprints have nothing to check', async () => {
    const { place } = await openColumns(`Année,SHA-256\n2024,${'ab'.repeat(32)}\n`)
    expect($registerColumns.get().map(({ use, index }) => [use, index])).toEqual([
      ['fingerprint', 1],
      ['shown', 0]
    ])
    expect(place.textContent).not.toContain('Second details to ask for')
  })

  test('without names need labels', async () => {
    const { place, button } = await openColumns('D-1,x\nD-2,y\n')
    expect(place.querySelector('[data-column="0"]')?.textContent).toContain('Type a label.')
    expect(button('Upload and check').disabled).toBe(true)
  })

  test('of the whole list or of rows to add, once there is a list', async () => {
    const { place } = await openColumns(csv, { ...source, current })
    expect(place.textContent).toContain('Rows of version 12 that are not in the file are removed.')
    expect(place.querySelectorAll('input[type=radio]')).toHaveLength(2)
  })
})

describe('the dry run', () => {
  test('counts in words, and skips refused rows only on a button that says so', async () => {
    const { place, button } = openCheck({ ...checked, warnings: ['counting_references'] })
    expect(place.querySelector('[data-dry-run]')?.textContent).toBe(
      '20,000 rows: 412 new, 31 changed, 19,540 unchanged, 17 refused'
    )
    expect(place.textContent).toContain(
      'These numbers count upwards and can be guessed. Ask for a second detail, such as the last name.'
    )
    button('Skip 17 rows and run').click()
    await vi.waitFor(() => expect(sent.at(-1)?.path).toMatch(/\/run$/))
    expect(sent.at(-1)?.body).toEqual({ skip_refused: true })
  })

  test('asks before rows are lost', async () => {
    const counts = { new: 1, changed: 0, unchanged: 3, removed: 96, refused: 0 }
    const { place, button } = openCheck({ ...checked, rows: 4, counts })
    expect(place.querySelector('[data-dry-run]')?.textContent).toMatch(/, 96 removed$/)
    button('Run the import').click()
    await vi.waitFor(() => button('Run and remove them').click())
    await vi.waitFor(() => expect(sent.at(-1)?.path).toMatch(/\/run$/))
    expect(sent.at(-1)?.body).toEqual({ skip_refused: false })
  })

  test('says that the file is that of the current version', () => {
    const counts = { new: 0, changed: 0, unchanged: 4, removed: 0, refused: 0 }
    const { place } = openCheck({ ...checked, rows: 4, counts })
    expect(place.textContent).toContain('This is the file of version 12: nothing changes.')
  })

  test('runs nothing if no row is right', () => {
    const counts = { new: 0, changed: 0, unchanged: 0, removed: 3, refused: 4 }
    const { place } = openCheck({ ...checked, rows: 4, counts })
    expect(place.textContent).toContain('No row of this file can be imported.')
    const names = [...place.querySelectorAll('button')].map(each => each.textContent)
    expect(names.filter(name => /run/i.test(name ?? ''))).toEqual([])
  })

  test('shows how far the service is, in every tab', () => {
    const progress = { step: 'comparing', share: 0.42 } as const
    const { place } = openCheck({ ...checked, state: 'reading', counts: null, progress })
    expect(place.textContent).toContain('Comparing with the list · 42%')
  })

  test('says in French what agrees with the rows', () => {
    const t = translator('fr', textsOf('fr'))
    expect(
      describeDryRun(
        {
          ...checked,
          rows: 1,
          counts: { new: 1, changed: 0, unchanged: 0, removed: 2, refused: 0 }
        },
        t
      )
    ).toBe('1 ligne\u00a0: 1 nouvelle, 0 modifiée, 0 inchangée, 0 refusée, 2 retirées')
  })

  test('removed rows are a change', () => {
    const counts = { new: 0, changed: 0, unchanged: 4, removed: 1, refused: 0 }
    expect(changesNothing({ ...checked, counts })).toBe(false)
  })
})

test.each(locales)('has a sentence in %s for every failure and every reason', locale => {
  const t = translator(locale, textsOf(locale))
  const keys = [
    ...RegisterImportFailure.options.map(code => `registerImports.failures.${code}`),
    ...RegisterRowReason.options.map(code => `registerImports.reasons.${code}`)
  ]
  for (const key of keys) expect(t(key)).not.toBe(key)
})
