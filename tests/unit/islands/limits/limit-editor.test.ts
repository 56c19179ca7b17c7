// @vitest-environment happy-dom
import { createElement, useState } from 'react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import type { Locale } from '../../../../src/i18n/index.ts'
import { LimitEditor } from '../../../../src/islands/limits/LimitEditor.tsx'
import type { GroupLimits } from '../../../../src/islands/limits/LimitFields.tsx'
import { descriptionOf, renderIsland, type } from '../../../helpers/islands.ts'

const example: GroupLimits = {
  max_requests: 1000,
  max_requests_interval: 'P1D',
  max_storage: 2_500_000_000
}
const usage = {
  requests_used: 12,
  requests_remaining: 988,
  storage_used: 2_000_000_000,
  storage_remaining: 500_000_000,
  resets_at: '2026-05-04T00:00:00.000Z'
}

/** Keeps what is saved, as the page of a group does. */
function Group() {
  const [limits, setLimits] = useState(example)
  const update = async (changed: GroupLimits) => setLimits(changed)
  return createElement(LimitEditor<GroupLimits>, { limits, usage, update })
}

let logged: unknown[]
let island: ReturnType<typeof open>

beforeEach(() => {
  logged = []
  vi.stubEnv('TZ', 'UTC')
  vi.stubGlobal('reportError', (error: unknown) => logged.push(error))
})
afterEach(() => {
  island.remove()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

test('limits without a way to change them are read', () => {
  island = renderIsland(LimitEditor<GroupLimits>, { limits: example })
  expect(island.place.textContent).toContain('1,000 documents per day')
  expect(island.place.textContent).toContain('2.5 GB')
  expect(island.place.querySelector('button')).toBeNull()
})

test('limits are changed in place', async () => {
  island = open(Group)
  island.button('Change limits').click()
  await shown('Save limits')
  expect(document.activeElement).toBe(requests())
  const periods = [...island.field('Period').querySelectorAll('option')]
  expect(periods.map(each => each.textContent)).toEqual([
    'in total',
    'per day',
    'per month (30 days)',
    'per year'
  ])
  type(requests(), '-5')
  requests().blur()
  expect(requests().value).toBe('0')
  type(island.field('Period'), 'P1Y')
  type(storage(), '1.2')
  island.button('Save limits').click()
  await shown('0 documents per year')
  await shown('1.2 GB')
  await vi.waitFor(() => expect(document.activeElement).toBe(island.button('Change limits')))
})

test('a text that is no number is announced, then saved as no limit', async () => {
  island = open(Group)
  await edit()
  type(requests(), 'many')
  type(storage(), '')
  island.button('Save limits').click()
  await vi.waitFor(() => expect(descriptionOf(requests())).toBe('“many” is not a number: no limit'))
  expect(document.activeElement).toBe(requests())
  // another text is announced again
  type(requests(), 'more')
  island.button('Save limits').click()
  await vi.waitFor(() => expect(descriptionOf(requests())).toBe('“more” is not a number: no limit'))
  island.button('Save limits').click()
  await vi.waitFor(() => expect(island.place.textContent?.match(/Unlimited/g)).toHaveLength(2))
})

test('limits are read with units and grouping, and a part of a document is refused', async () => {
  island = open(Group)
  await edit()
  type(requests(), '10k')
  type(storage(), '500 MB')
  island.button('Save limits').click()
  await shown('10,000 documents per day')
  await shown('500.0 MB')
  await edit()
  type(requests(), '1.5')
  island.button('Save limits').click()
  await vi.waitFor(() => expect(descriptionOf(requests())).toContain('Use whole numbers only.'))
  type(requests(), '1.000.000')
  await vi.waitFor(() => expect(descriptionOf(requests())).toBe('Leave empty for no limit.'))
  island.button('Save limits').click()
  await shown('1,000,000 documents per day')
})

test('a limit below what is used is said while it is typed', async () => {
  island = open(Group)
  await edit()
  type(requests(), '11')
  await vi.waitFor(() =>
    expect(descriptionOf(requests())).toBe(
      'The group has already used 12. It can go on after May 4, 2026 at 12:00 AM, or when you raise the limit.'
    )
  )
  type(storage(), '1')
  await shown('The group already stores 2.0 GB.')
  // nobody knows how much was used in a year
  type(island.field('Period'), 'P1Y')
  await vi.waitFor(() => expect(descriptionOf(requests())).toBe('Leave empty for no limit.'))
})

test.each(['the button', 'Escape'])('%s brings the limits back as they were', async way => {
  island = open(Group, 'fr')
  island.button('Modifier les limites').click()
  await vi.waitFor(() => expect(island.field('Stockage en gigaoctets').value).toBe('2,5'))
  const field = island.field('Stockage en gigaoctets')
  type(field, '9')
  if (way === 'the button') island.button('Annuler').click()
  else field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
  await vi.waitFor(() => expect(island.place.querySelector('form')).toBeNull())
  expect(island.place.textContent?.replace(/\s/g, ' ')).toContain('1 000 documents par jour')
  expect(island.place.textContent?.replace(/\s/g, ' ')).toContain('2,5 Go')
})

test('a save that fails is logged, leaves the form, and keeps what was typed', async () => {
  const error = new AppError('forbidden', 'This page changes nothing')
  const update = () => Promise.reject(error)
  island = renderIsland(LimitEditor<GroupLimits>, { limits: example, update })
  await edit()
  type(requests(), '7')
  island.button('Save limits').click()
  await shown('Your limits are not saved. Documents: 7 documents per day. Storage: 2.5 GB.')
  await shown('1,000 documents per day')
  expect(logged).toEqual([error])
  island.button('Retry').click()
  await vi.waitFor(() => expect(logged).toHaveLength(2))
  await shown('Edit again')
  island.button('Edit again').click()
  await vi.waitFor(() => expect(document.activeElement).toBe(requests()))
  expect(requests().value).toBe('7')
  requests().dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
  await vi.waitFor(() => expect(island.place.querySelector('[role=alert]')).toBeNull())
  // what the server has
  await edit()
  expect(requests().value).toBe('1,000')
})

function open(Screen: typeof Group, locale: Locale = 'en') {
  return renderIsland(Screen, {}, locale)
}

async function edit(): Promise<void> {
  island.button('Change limits').click()
  await shown('Save limits')
}

function requests() {
  return island.field('Documents')
}

function storage() {
  return island.field('Storage in gigabytes')
}

async function shown(text: string): Promise<void> {
  await vi.waitFor(() => expect(island.place.textContent).toContain(text))
}
