// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { OfferedSource } from '../../../../src/contract/verifications.ts'
import { VerificationResults } from '../../../../src/islands/verify/VerificationResults.tsx'
import { VerifyReference } from '../../../../src/islands/verify/VerifyReference.tsx'
import { setBrowserEnvironment } from '../../../../src/stores/environment.ts'
import { $verifications, clearVerifications } from '../../../../src/stores/verifications.ts'
import { makeBrowser } from '../../../helpers/browser.ts'
import { renderIsland, type } from '../../../helpers/islands.ts'

const diplomas: OfferedSource = {
  id: '0199f2a0-0000-7000-8000-000000000001',
  name: 'Diplomas',
  reference: { en: 'Diploma number', fr: 'Numéro de diplôme' },
  fields: [
    { labels: { en: 'Last name', fr: 'Nom' }, type: 'text' },
    { labels: { en: 'Date of birth', fr: 'Date de naissance' }, type: 'date' }
  ]
}
const invoices: OfferedSource = {
  id: '0199f2a0-0000-7000-8000-000000000002',
  name: 'Invoices',
  reference: { en: 'Invoice number', fr: 'Numéro de facture' },
  fields: []
}

let offered: OfferedSource[]
let asked: unknown[]
let answer: () => Response
let isDown: boolean
let island: ReturnType<typeof renderIsland> | undefined

beforeEach(() => {
  offered = [diplomas]
  asked = []
  isDown = false
  answer = () => Response.json({}, { status: 500 })
  const { environment } = makeBrowser().openTab('http://localhost:4321/en', async request => {
    if (request.url.endsWith('/data_source'))
      return isDown ? Response.json({}, { status: 503 }) : Response.json(offered)
    asked.push(await request.json())
    return answer()
  })
  setBrowserEnvironment(environment)
})
afterEach(() => {
  island?.remove()
  clearVerifications()
  setBrowserEnvironment(undefined)
})

test('asks under the labels of the company, with a date as a date', async () => {
  island = renderIsland(VerifyReference, {}, 'fr')
  await vi.waitFor(() => expect(island?.field('Date de naissance').type).toBe('date'))
  type(island.field('Numéro de diplôme'), 'D-1')
  type(island.field('Nom'), 'Lovelace')
  type(island.field('Date de naissance'), '1815-12-10')
  island.button('Rechercher').click()
  await vi.waitFor(() => expect(asked).toHaveLength(1))
  expect(asked[0]).toEqual({
    items: [{ data_source: diplomas.id, reference: 'D-1', fields: ['Lovelace', '1815-12-10'] }]
  })
})

test('lets people choose among several registers, whose fields it then shows', async () => {
  offered = [diplomas, invoices]
  island = renderIsland(VerifyReference, {})
  await vi.waitFor(() => expect(island?.field('Register').value).toBe(diplomas.id))
  const choice = island.field('Register')
  choice.value = invoices.id
  choice.dispatchEvent(new Event('change', { bubbles: true }))
  await vi.waitFor(() => expect(island?.field('Invoice number')).toBeDefined())
  expect(() => island?.field('Last name')).toThrow()
})

test('shows nothing where no register offers it', async () => {
  offered = []
  island = renderIsland(VerifyReference, {})
  await Promise.resolve()
  expect(island.place.textContent).toBe('')
})

test('says that the registers could not be loaded, and loads them again', async () => {
  isDown = true
  island = renderIsland(VerifyReference, {})
  await vi.waitFor(() =>
    expect(island?.place.textContent).toContain('The registers could not be loaded.')
  )
  isDown = false
  island.button('Retry').click()
  await vi.waitFor(() => expect(island?.field('Diploma number')).toBeDefined())
})

test('leads to the first empty field, and asks nothing', async () => {
  const isInvalid = (label: string) => island?.field(label).getAttribute('aria-invalid')
  island = renderIsland(VerifyReference, {})
  await vi.waitFor(() => expect(island?.field('Diploma number')).toBeDefined())
  type(island.field('Diploma number'), 'D-1')
  island.button('Look up').click()
  await vi.waitFor(() => expect(isInvalid('Last name')).toBe('true'))
  expect(document.activeElement).toBe(island.field('Last name'))
  expect(isInvalid('Diploma number')).toBe('false')
  expect(asked).toEqual([])
})

test('keeps what was typed for the page in the other language', async () => {
  offered = [diplomas, invoices]
  island = renderIsland(VerifyReference, {})
  await vi.waitFor(() => expect(island?.field('Diploma number')).toBeDefined())
  type(island.field('Last name'), 'Lovelace')
  // until it is drawn
  await Promise.resolve()
  document.dispatchEvent(new Event('vidimus:language'))
  island.remove()
  island = renderIsland(VerifyReference, {}, 'fr')
  await vi.waitFor(() => expect(island?.field('Nom').value).toBe('Lovelace'))
})

test('says when to try again after too many misses, and does not ask again by itself', async () => {
  answer = () =>
    Response.json(
      { code: 'lookup_limited', status: 429 },
      { status: 429, headers: { 'retry-after': '120' } }
    )
  island = renderIsland(VerifyReference, {})
  await vi.waitFor(() => expect(island?.field('Diploma number')).toBeDefined())
  type(island.field('Diploma number'), 'D-1')
  type(island.field('Last name'), 'Wrong')
  type(island.field('Date of birth'), '1815-12-10')
  island.button('Look up').click()
  await vi.waitFor(() => expect($verifications.get()[0]?.state.step).toBe('failed'))
  island.remove()
  const props = { checks: $verifications.get(), isSettled: true, isSignedIn: false, isNew: true }
  island = renderIsland(VerificationResults, props)
  expect(island.place.textContent).toMatch(/Too many searches without a result. Try again at \d/)
  expect(asked).toHaveLength(1)
})
