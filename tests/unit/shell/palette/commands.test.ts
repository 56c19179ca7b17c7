import { describe, expect, test } from 'vitest'
import { type PageName, pages } from '../../../../src/core/pages/page-table.ts'
import { type Locale, locales, type Translate } from '../../../../src/i18n/index.ts'
import {
  type Command,
  commandKinds,
  matchingCommands,
  type PaletteContext,
  pageCommands,
  permittedCommands,
  recentCommands
} from '../../../../src/shell/palette/commands.ts'
import { translatorOfAllWords } from '../../../helpers/words.ts'

/** Returns the translator of a language for keys that are put together at run time. */
const wordsOf = (locale: Locale) => translatorOfAllWords(locale) as Translate<string>
const t = wordsOf('en')
const stranger: PaletteContext = {
  locale: 'en',
  isSignedIn: false,
  isPending: false,
  permissions: [],
  features: [],
  company: undefined,
  isPublic: true
}
const person: PaletteContext = {
  ...stranger,
  isSignedIn: true,
  features: ['deposit'],
  company: '01978a5e-0000-7000-8000-000000000001'
}
const admin: PaletteContext = { ...person, permissions: ['admin'] }
const everybody = [stranger, person, admin, { ...admin, permissions: ['operator'] }]

/** Pages that the palette leaves out, because a link or another page leads to them. */
const leftOut: PageName[] = [
  'verifyAccount',
  'activateAccount',
  'resetPassword',
  'confirmEmail',
  'setup',
  'disabled',
  'docsCalls',
  'docsErrors'
]

describe('the commands', () => {
  test('open every page that needs no id, except those that something else leads to', () => {
    const all = Object.entries(pages).filter(
      ([, { path }]) => !path.replace('{company}', '').includes('{')
    )
    const listed = [...pageCommands.map(({ page }) => page), ...leftOut]
    expect(listed.sort()).toEqual(all.map(([name]) => name).sort())
  })

  test.each([
    ['a stranger', stranger, ['home', 'verify', 'signIn', 'signUp', 'docs']],
    [
      'a stranger of a private host',
      { ...stranger, isPublic: false },
      ['home', 'verify', 'signIn', 'docs']
    ],
    ['a person', person, ['home', 'history', 'deposit', 'verify', 'me', 'docs']],
    [
      'who may not deposit',
      { ...person, features: [] },
      ['home', 'history', 'verify', 'me', 'docs']
    ],
    [
      'who has not confirmed the e-mail',
      { ...person, isPending: true },
      ['home', 'verify', 'docs']
    ],
    [
      'whose permissions are not known yet',
      { ...person, permissions: undefined },
      ['home', 'history', 'deposit', 'verify', 'me', 'docs']
    ]
  ])('%s opens what the guards admit', (_, opener, expected) => {
    expect(idsOf(permittedCommands(opener, t)).filter(id => id in pages)).toEqual(expected)
  })

  test('open the administration of the company for administrators', () => {
    const commands = permittedCommands(admin, t)
    expect(commands.find(({ id }) => id === 'users')).toEqual({
      id: 'users',
      kind: 'pages',
      label: 'People',
      note: 'Administration',
      href: `/en/admin/${admin.company}/users`
    })
    expect(idsOf(commands)).toContain('createGroup')
    expect(idsOf(permittedCommands(person, t))).not.toContain('createGroup')
    expect(idsOf(commands)).not.toEqual(expect.arrayContaining(['admin', 'createCompany']))
    const operator = permittedCommands({ ...admin, permissions: ['operator'] }, t)
    expect(idsOf(operator)).toEqual(expect.arrayContaining(['admin', 'createCompany']))
  })

  test('sign out only whoever is signed in, and deposit only for those who may', () => {
    expect(idsOf(permittedCommands(person, t))).toEqual(
      expect.arrayContaining(['sign-out', 'deposit-file'])
    )
    expect(idsOf(permittedCommands(stranger, t))).not.toContain('sign-out')
    expect(idsOf(permittedCommands({ ...person, isPending: true }, t))).not.toContain(
      'deposit-file'
    )
  })

  test.each(locales)('have words in %s, and each kind a heading', locale => {
    const words = wordsOf(locale)
    for (const opener of everybody) {
      for (const { label, note } of permittedCommands({ ...opener, locale }, words)) {
        expect(`${label} ${note}`).not.toMatch(/palette\./)
      }
    }
    for (const kind of ['recent', ...commandKinds]) {
      expect(words(`palette.kinds.${kind}`)).not.toMatch(/palette\./)
    }
  })

  test.each(locales)('have in %s the names of the drawer and of the sections', locale => {
    const words = wordsOf(locale)
    for (const name of ['home', 'history', 'deposit', 'verify', 'signIn', 'signUp'] as const) {
      expect(words(`palette.pages.${name}`)).toBe(words(`common.${name}`))
    }
    for (const name of [
      'company',
      'users',
      'groups',
      'categories',
      'dataSources',
      'domains',
      'audit'
    ] as const) {
      expect(words(`palette.pages.${name}`)).toBe(words(`admin.sections.${name}`))
    }
  })
})

test('a text finds commands by words in any order, without case and accents, the closest first', () => {
  const commands = ['Overview', 'Été people', 'People', 'New person', 'Import people'].map(label =>
    command(label)
  )
  const found = (text: string) => matchingCommands(commands, text).map(({ label }) => label)
  expect(found('PEOPLE')).toEqual(['People', 'Été people', 'Import people'])
  expect(found('people ete')).toEqual(['Été people'])
  expect(found('view')).toEqual(['Overview'])
  expect(found('nobody')).toEqual([])
  expect(found('')).toHaveLength(commands.length)
})

test('a text also finds commands by their second text', () => {
  expect(
    matchingCommands([{ ...command('Ada'), note: 'ada@example.com' }], 'example ada')
  ).toHaveLength(1)
})

test('what was chosen last is offered as long as the person may choose it', () => {
  const item = { kind: 'groups' as const, id: '7', label: 'Sales', path: '/admin/1/groups/7' }
  const recent = [{ id: '7', item }, { id: 'users' }, { id: 'me' }]
  const of = (opener: PaletteContext) =>
    recentCommands(recent, permittedCommands(opener, t), opener)
  expect(idsOf(of(admin))).toEqual(['7', 'users', 'me'])
  expect(of(admin)[0]).toMatchObject({ label: 'Sales', href: '/en/admin/1/groups/7' })
  expect(idsOf(of(person))).toEqual(['me'])
  expect(idsOf(of({ ...person, permissions: undefined }))).toEqual(['me'])
})

function command(label: string): Command {
  return { id: label, kind: 'pages', label, href: '/' }
}

function idsOf(commands: readonly Command[]): string[] {
  return commands.map(({ id }) => id)
}
