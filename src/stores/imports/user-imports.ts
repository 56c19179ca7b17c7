import type { Group } from '../../contract/groups.ts'
import { importLimits, type UserImportRow } from '../../contract/imports.ts'
import { findHeadingRow, type ImportField } from '../../core/csv/columns.ts'
import { trimInvisible } from '../../core/input/pasted-text.ts'
import type { Locale } from '../../i18n/index.ts'
import { callAdminApi } from '../admin/admin-api.ts'
import { createListStore } from '../lists/lists.ts'
import { personalAtom } from '../personal-atoms.ts'
import { type ImportKind, mostRowsPerPage, type RowValues } from './import-kinds.ts'

export interface UserImportOptions {
  // in addition to those of each row
  groups: readonly Pick<Group, 'id' | 'name'>[]
  // for people without a language in their row
  locale: Locale | undefined
  sendsInvitations: boolean
}

export const $userImportOptions = personalAtom<UserImportOptions>({
  groups: [],
  locale: undefined,
  sendsInvitations: true
})

const fields: ImportField[] = [
  {
    name: 'email',
    isRequired: true,
    headings: [
      'Email',
      'Email address',
      'Mail',
      'Courriel',
      'Courrier électronique',
      'Mél',
      'Adresse e-mail',
      'Adresse mail',
      'Adresse électronique',
      'Adresse de messagerie'
    ],
    looks: 'email'
  },
  {
    name: 'username',
    isRequired: false,
    headings: ['Name', 'Full name', 'Display name', 'Nom', 'Nom complet', 'Nom affiché'],
    lesserHeadings: ['Username', 'Utilisateur', 'Nom d’utilisateur', 'Login', 'Identifiant'],
    otherWords: [
      ...['first', 'given', 'fore', 'middle', 'additional', 'last', 'sur', 'family', 'maiden'],
      ...['nick', 'phonetic', 'yomi', 'prefix', 'suffix', 'file', 'mail', 'messagerie'],
      ...['company', 'organi', 'department', 'group', 'manager', 'assistant', 'spouse', 'partner'],
      ...['prénom', 'famille', 'naissance', 'usage', 'entreprise', 'société', 'service']
    ]
  },
  {
    name: 'surname',
    isRequired: false,
    headings: [
      'Last name',
      'Family name',
      'Surname',
      'Nom de famille',
      'Nom d’usage',
      'Nom',
      'Nachname'
    ],
    otherWords: ['phonetic', 'yomi', 'manager', 'assistant', 'spouse', 'partner'],
    joins: {
      field: 'username',
      firstHeadings: ['First name', 'Given name', 'Forename', 'Prénom', 'Prénoms', 'Vorname']
    }
  },
  {
    name: 'groups',
    isRequired: false,
    headings: ['Groups', 'Group', 'Team', 'Groupes', 'Groupe', 'Équipe'],
    // contact lists name their own groups, which no company has
    otherWords: ['Group membership', 'Appartenance']
  },
  {
    name: 'locale',
    isRequired: false,
    headings: ['Language', 'Locale', 'Lang', 'Langue']
  }
]

// in the body of a call, kept free for everything other than its rows
const [roomBytes, roomValues] = [10_000, 100]
// above the server's own maximums: it refuses every row from which something was cut off
const [longestCell, mostGroups] = [importLimits.cell + 100, 200]

export const userImportKind: ImportKind = {
  name: 'users',
  fields,
  limits: importLimits,
  isCounted: true,
  findHeadings: rows => findHeadingRow(fields, rows),
  normalize: values => valuesOf(cellsOf(values)),
  create(input) {
    const { groups, locale, sendsInvitations } = $userImportOptions.get()
    return callAdminApi('createImport', {
      ...input,
      groups: groups.map(({ id }) => id),
      send_invitations: sendsInvitations,
      ...(locale && { locale })
    })
  },
  get: id => callAdminApi('getImport', { id }),
  async store(id, from, rows) {
    const cells = rows.map(cellsOf)
    // if the rows are too large for one call, further calls store the rest
    const most = rowsThatFit(cells)
    const item = await callAdminApi('storeImportRows', { id, from, rows: cells.slice(0, most) })
    return most < rows.length ? userImportKind.store(id, from + most, rows.slice(most)) : item
  },
  async list(id, query) {
    const { rows, next } = await callAdminApi('listImportRows', { id, ...query })
    return { rows: rows.map(storedRow), next }
  },
  check: id => callAdminApi('checkImport', { id }),
  skip: (id, rows, skip) => callAdminApi('skipImportRows', { id, rows, skip }),
  run: (id, skip_refused) => callAdminApi('runImport', { id, skip_refused }),
  undo: id => callAdminApi('undoImport', { id }),
  remove: id => callAdminApi('deleteImport', { id }),
  rows: createListStore(
    async ({ verdict = 'refused' }, { limit, cursor = '0' }, id) =>
      (await userImportKind.list(id, { verdict, limit, after: Number(cursor) })).rows,
    { mostRefreshed: mostRowsPerPage }
  ),
  past: createListStore((_, page, company) => callAdminApi('listImports', { id: company, ...page }))
}

function rowsThatFit(rows: readonly ReturnType<typeof cellsOf>[]): number {
  const { bytesPerCall, valuesPerCall, rowsPerCall } = importLimits
  let [characters, values] = [0, 0]
  for (const [at, row] of rows.entries()) {
    characters += JSON.stringify(row).length + 1
    values += 6 + (row.groups?.length ?? 0)
    // a character has at most three bytes
    const isOver = characters * 3 > bytesPerCall - roomBytes || values > valuesPerCall - roomValues
    if (at === rowsPerCall || (isOver && at > 0)) return at
  }
  return rows.length
}

function cellsOf({ email = '', username = '', groups = '', locale = '' }: RowValues) {
  const names = splitGroups(groups).slice(0, mostGroups)
  const cut = (text: string) => trimInvisible(text).slice(0, longestCell)
  return {
    email: cut(email),
    ...(cut(username) && { username: cut(username) }),
    ...(names.length > 0 && { groups: names.map(cut) }),
    ...(cut(locale) && { locale: cut(locale) })
  }
}

// names may contain commas: `R, D; Sales | Board` → `['R, D', 'Sales', 'Board']`
function splitGroups(text: string): string[] {
  return text
    .split(/[;|\n\r]/)
    .map(trimInvisible)
    .filter(Boolean)
}

function valuesOf({ email, username = '', groups = [], locale = '' }: UserImportRow['cells']) {
  return { email, username, groups: groups.join('; '), locale }
}

function storedRow({ row, cells, verdict, reasons, kept }: UserImportRow) {
  return {
    id: `${row}`,
    row,
    values: valuesOf(cells),
    verdict,
    reasons: reasons.map(({ column, ...reason }) => ({ field: column, ...reason })),
    kept
  }
}
