// @vitest-environment happy-dom
import { useStore } from '@nanostores/react'
import { createElement } from 'react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Group } from '../../../../src/contract/groups.ts'
import { errorCodes } from '../../../../src/contract/kit/errors.ts'
import { GroupSettings } from '../../../../src/islands/groups/GroupSettings.tsx'
import { $group, openGroup, reloadGroup } from '../../../../src/stores/admin/groups.ts'
import { setBrowserEnvironment } from '../../../../src/stores/environment.ts'
import { $route } from '../../../../src/stores/routes.ts'
import { beginSession, signOut } from '../../../../src/stores/sessions.ts'
import { makeBrowser, makeToken } from '../../../helpers/browser.ts'
import { renderIsland, type } from '../../../helpers/islands.ts'

/** The group that the server has. Tests change it as somebody else would. */
let stored: Group
let island: ReturnType<typeof renderIsland>

/** Draws the settings of the group that the store holds, as its page does. */
function Settings() {
  const group = useStore($group)
  return group.status === 'ready' ? createElement(GroupSettings, { group: group.item }) : null
}

beforeEach(async () => {
  stored = {
    id: '0199f2a0-0000-7000-8000-000000000001',
    version: 1,
    name: 'Old name',
    features: ['deposit'],
    max_requests: null,
    max_requests_interval: null,
    max_storage: null,
    is_default: true,
    created: '2026-05-03T12:00:00Z',
    user_count: 0,
    category_count: 0,
    usage: {
      requests_used: 0,
      requests_remaining: null,
      storage_used: 0,
      storage_remaining: null,
      resets_at: null
    }
  }
  $route.open('/en/admin/0199f2a0-0000-7000-8000-00000000000c/groups')
  const browser = makeBrowser()
  const { environment } = browser.openTab('http://localhost:4321/en', async request => {
    if (!request.url.endsWith(stored.id)) return Response.json([])
    if (request.method === 'PUT') {
      if (request.headers.get('if-match') !== `"${stored.version}"`) {
        const code = 'changed_meanwhile'
        return Response.json({ code }, { status: errorCodes[code] })
      }
      change(await request.json())
    }
    return Response.json(stored)
  })
  setBrowserEnvironment(environment)
  await beginSession(makeToken({ sub: 'ada', exp: browser.now() / 1000 + 3600 }))
  await openGroup(stored.id)
  island = renderIsland(Settings, {})
})
afterEach(async () => {
  island.remove()
  await signOut()
  setBrowserEnvironment(undefined)
})

test('a form compares with the version that it showed when it was opened', async () => {
  await edit()
  type(island.field('Name'), 'Own name')
  change({ name: 'Other name' })
  await reloadGroup(stored.id)
  island.button('Save').click()
  await vi.waitFor(() => expect(choices()).toEqual(['Yours Own name', 'Theirs Other name']))
  island.button('Keep all of mine').click()
  await vi.waitFor(() => expect(stored).toMatchObject({ name: 'Own name', version: 3 }))
  await vi.waitFor(() => expect(choices()).toEqual([]))
})

test('of two who change one field, the second chooses theirs', async () => {
  await edit()
  type(island.field('Name'), 'Own name')
  change({ name: 'Other name' })
  island.button('Save').click()
  await vi.waitFor(() => expect(choices()).toHaveLength(2))
  island.place.querySelectorAll<HTMLInputElement>('[type=radio]')[1]?.click()
  island.button('Save this choice').click()
  await vi.waitFor(() => expect(choices()).toEqual([]))
  await vi.waitFor(() => expect(island.place.textContent).toContain('Other name'))
  expect(stored.name).toBe('Other name')
})

test('changes of different fields both stay, and nobody is asked', async () => {
  await edit()
  type(island.field('Name'), 'Own name')
  change({ max_requests: 7 })
  island.button('Save').click()
  await vi.waitFor(() => expect(stored).toMatchObject({ name: 'Own name', max_requests: 7 }))
  expect(choices()).toEqual([])
})

function change(changes: Partial<Group>): void {
  stored = { ...stored, ...changes, version: stored.version + 1 }
}

async function edit(): Promise<void> {
  island.button('Edit').click()
  await vi.waitFor(() => expect(island.field('Name').value).toBe('Old name'))
}

/** Returns the texts of the choices between two versions. */
function choices(): (string | null)[] {
  const labels = island.place.querySelectorAll('[data-state=changed] label')
  return [...labels].map(label => label.textContent)
}
