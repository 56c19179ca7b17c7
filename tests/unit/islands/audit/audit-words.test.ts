import { describe, expect, test } from 'vitest'
import { adminCalls } from '../../../../src/contract/admin-calls.ts'
import { AuditAction, type AuditLogEntry, serviceActorId } from '../../../../src/contract/audit.ts'
import { DisabledReason } from '../../../../src/contract/kit/disabled.ts'
import enScreen from '../../../../src/i18n/en/admin/audit.json' with { type: 'json' }
import enLabels from '../../../../src/i18n/en/admin/labels.json' with { type: 'json' }
import frScreen from '../../../../src/i18n/fr/admin/audit.json' with { type: 'json' }
import frLabels from '../../../../src/i18n/fr/admin/labels.json' with { type: 'json' }
import type { Locale } from '../../../../src/i18n/index.ts'
import {
  actionsByItemKind,
  auditTranslator
} from '../../../../src/islands/audit/audit-translator.ts'
import {
  buildAuditSentenceParts,
  describeChanges
} from '../../../../src/islands/audit/audit-words.ts'

const screens = { en: enScreen, fr: frScreen }
const id = '0199f2a0-0000-7000-8000-000000000001'
const mona = '0199f2a0-0000-7000-8000-00000000000a'

function entryOf(more: Partial<AuditLogEntry>): AuditLogEntry {
  return {
    id,
    seq: 1,
    at: '2026-05-03T12:00:00.000Z',
    actor: { id: mona, name: 'Mona' },
    action: 'group.update',
    target: { id, kind: 'group', name: 'Writers' },
    changes: null,
    names: [],
    erased: false,
    ...more
  }
}

function sentence(entry: AuditLogEntry, locale: Locale = 'en'): string {
  const parts = buildAuditSentenceParts(entry, auditTranslator(locale))
  return parts.map(part => (typeof part === 'string' ? part : part.name)).join('')
}

function changesIn(entry: AuditLogEntry, locale: Locale = 'en') {
  return describeChanges(entry, locale, auditTranslator(locale)).map(({ label, before, after }) => [
    label,
    before,
    after
  ])
}

describe.each(['en', 'fr'] as const)('in %s', locale => {
  test.each(AuditAction.options)('%s has a sentence with its names, and a label', action => {
    const [kind = '', verb = ''] = action.split('.')
    const said = sentence(entryOf({ action, target: { id, kind, name: 'Writers' } }), locale)
    expect(said).toMatch(/^(?:Mona|Writers) .*\.$/)
    expect(said).toContain('Writers')
    expect(said).not.toMatch(/\{\{|\0/)
    expect(said).not.toContain(`(${action})`)
    const { choices, kinds } = screens[locale]
    expect(choices).toHaveProperty([kind, verb])
    expect(kinds).toHaveProperty([kind])
  })

  test('each kind of item has a word for one that is gone', () => {
    for (const action of AuditAction.options) {
      const kind = action.split('.')[0] ?? ''
      const said = sentence(entryOf({ action, target: { id, kind, name: null } }), locale)
      expect(said, action).not.toMatch(/nameless|Writers|null/)
    }
  })
})

test('has a sentence for the actions of the contract and no other', () => {
  expect(actionsByItemKind.flatMap(([, actions]) => actions).sort()).toEqual(
    AuditAction.options.toSorted()
  )
})

test('tells who acted from another company, and who deleted themselves', () => {
  const actor = { id: mona, name: 'Mona', company: 'Vidimus' }
  expect(sentence(entryOf({ actor }))).toBe('Mona of Vidimus changed the group Writers.')
  expect(sentence(entryOf({ actor }), 'fr')).toBe('Mona (Vidimus) a modifié le groupe Writers.')
  const own = entryOf({
    action: 'user.delete',
    actor: { id: mona, name: null },
    target: { id: mona, kind: 'user', name: null }
  })
  expect(sentence(own)).toBe('a deleted person deleted their own account.')
})

test('says what the daily check found about a wildcard, and not that it took it away', () => {
  const found = (action: string, locale: Locale) =>
    sentence(
      entryOf({
        action,
        actor: { id: serviceActorId, name: null },
        target: { id, kind: 'domain', name: 'docs.x' }
      }),
      locale
    )
  expect(found('domain.uncover', 'en')).toBe(
    'The wildcard that verified docs.x has lost its DNS record, so docs.x now needs one of its own.'
  )
  expect(found('domain.cover', 'en')).toBe(
    'The wildcard that verifies docs.x has its DNS record again.'
  )
  expect(found('domain.uncover', 'fr')).toBe(
    'Le domaine à astérisque qui validait docs.x a perdu son enregistrement DNS\u00a0: docs.x doit désormais avoir le sien.'
  )
  expect(found('domain.cover', 'fr')).toBe(
    'Le domaine à astérisque qui valide docs.x a retrouvé son enregistrement DNS.'
  )
  expect(found('domain.verify', 'en')).toBe('The daily check verified the domain docs.x.')
})

test('shows an action of a later release by its name', () => {
  expect(sentence(entryOf({ action: 'group.freeze' }))).toBe('Mona changed Writers (group.freeze).')
})

test('keeps a name as it is, whatever it looks like', () => {
  const target = { id, kind: 'group', name: '{{who}} $& <b>' }
  expect(sentence(entryOf({ target }))).toBe('Mona changed the group {{who}} $& <b>.')
})

test('says each field before and after in words', () => {
  const changes = [
    { field: 'max_requests', before: null, after: 1000 },
    { field: 'max_requests_interval', before: 'P1D', after: null },
    { field: 'max_storage', before: 5_000_000_000, after: null },
    { field: 'features', before: ['deposit'], after: [] },
    { field: 'is_default', before: false, after: true },
    { field: 'contact', before: 'help@acme.example', after: null },
    { field: 'logo', before: 'sha256:aa', after: 'sha256:bb' },
    { field: 'logo_dark', before: null, after: 'sha256:cc' },
    { field: 'colors', before: { dark: false }, after: { dark: false, primary: '#ffe600' } },
    { field: 'number', before: 3, after: 2 },
    { field: 'if_match', before: null, after: 'none' }
  ]
  expect(changesIn(entryOf({ changes }))).toEqual([
    ['Documents', 'no limit', '1,000'],
    ['Period', 'per day', 'in total'],
    ['Storage', '5.0 GB', 'no limit'],
    ['What members may do', 'deposit documents', 'none'],
    ['Default group', 'no', 'yes'],
    ['Contact', 'help@acme.example', 'none'],
    ['Logo', undefined, 'replaced'],
    ['Logo in dark mode', undefined, 'custom picture'],
    ['Colors', 'dark by default: no', 'dark by default: no, main color: #ffe600'],
    ['Version', '3', '2']
  ])
})

test('says the settings of a category as its page does', () => {
  const changes = [
    { field: 'retention', before: 'P1Y', after: 'P30D' },
    { field: 'media_types', before: null, after: ['application/pdf', 'video/*'] },
    { field: 'keep_originals', before: 'person', after: 'yes' }
  ]
  const entry = entryOf({ action: 'category.update', changes })
  expect(changesIn(entry)).toEqual([
    ['Keep files for', '1 year', '30 days'],
    ['Accepted files', undefined, 'PDF, video/*'],
    ['Pictures over 1 MB', 'the depositor chooses', 'always the original']
  ])
  expect(changesIn(entry, 'fr')[0]).toEqual([
    'Conserver les fichiers pendant',
    '1\u00a0an',
    '30\u00a0jours'
  ])
})

test('says why a person was disabled who is enabled again, and nothing after that', () => {
  const before = { reason: 'left', since: '2026-05-03T12:00:00.000Z' }
  const [[label, was, is] = []] = changesIn(
    entryOf({ action: 'user.enable', changes: [{ field: 'disabled', before, after: null }] })
  )
  expect([label, is]).toEqual(['Disabled', undefined])
  expect(was).toMatch(/^since May 3, 2026 .*, has left$/)
})

test('says why a company was suspended, and whether strangers can still verify', () => {
  const after = { reason: 'payment', since: '2026-05-03T12:00:00.000Z', verification: 'closed' }
  const [[label, , is] = []] = changesIn(
    entryOf({ action: 'company.suspend', changes: [{ field: 'suspended', before: null, after }] })
  )
  expect(label).toBe('Suspended')
  expect(is).toMatch(/^since May 3, 2026 .*, payment missing, verification by strangers off$/)
})

test.each(['en', 'fr'] as const)(
  'says in %s no reason of a company as that of a person',
  locale => {
    for (const reason of DisabledReason.options) {
      const after = { reason, since: '2026-05-03T12:00:00.000Z', verification: 'open' }
      const [[, , is] = []] = changesIn(
        entryOf({
          action: 'company.suspend',
          changes: [{ field: 'suspended', before: null, after }]
        }),
        locale
      )
      expect(is, reason).not.toMatch(/organi[sz]ation|the account|le compte/)
    }
  }
)

test('says what was disabled, since when and why, in French', () => {
  const changes = [
    {
      field: 'disabled',
      before: null,
      after: { reason: 'left', since: '2026-05-03T12:00:00.000Z' }
    }
  ]
  const [[label, before, after] = []] = changesIn(
    entryOf({ action: 'user.disable', changes }),
    'fr'
  )
  expect([label, before]).toEqual(['Désactivation', undefined])
  expect(after).toMatch(/^depuis le 3 mai 2026 .*, départ$/)
})

test('names the member that a sentence is about there alone', () => {
  const entry = entryOf({
    action: 'group.add_user',
    changes: [{ field: 'user_id', before: null, after: mona }],
    names: [{ id: mona, name: 'Mona' }]
  })
  expect(sentence(entry)).toBe('Mona added Mona to the group Writers.')
  expect(changesIn(entry)).toEqual([])
})

test('every field of an item that can be changed has a label in both languages', () => {
  for (const { method, versioned, input } of Object.values(adminCalls)) {
    if (method !== 'PUT' || !versioned) continue
    const { shape } = input as unknown as { shape: object }
    for (const field of Object.keys(shape).filter(each => each !== 'id')) {
      expect(enLabels, field).toHaveProperty([field])
      expect(frLabels, field).toHaveProperty([field])
    }
  }
})
