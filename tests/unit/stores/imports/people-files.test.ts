import { beforeEach, expect, test } from 'vitest'
import { type Encoding, encodeText } from '../../../../src/core/csv/encodings.ts'
import { readPastedEmail } from '../../../../src/core/input/pasted-text.ts'
import { setBrowserEnvironment } from '../../../../src/stores/environment.ts'
import {
  $importFile,
  changeDialect,
  type OpenedFile,
  readImportFile,
  readRowValuesByField
} from '../../../../src/stores/imports/import-file.ts'
import { userImportKind } from '../../../../src/stores/imports/user-imports.ts'
import { makeBrowser } from '../../../helpers/browser.ts'

beforeEach(() => {
  const tab = makeBrowser().openTab('http://localhost:4321/en', () => new Response(null))
  setBrowserEnvironment(tab.environment)
})

async function open(content: string | Uint8Array<ArrayBuffer>): Promise<OpenedFile> {
  await readImportFile(userImportKind, new File([content], 'people.csv'))
  return opened()
}

function opened(): OpenedFile {
  const file = $importFile.get()
  if (file.status !== 'read') throw new Error(`the file is ${file.status}`)
  return file
}

/** Returns `name <e-mail>` of each person whom an import of the file would name. */
async function peopleOf(file: OpenedFile): Promise<string[]> {
  const { rows } = await readRowValuesByField(userImportKind, file, file.dialect.firstRow, 100)
  return rows
    .slice(file.dialect.hasHeader ? 1 : 0)
    .map(userImportKind.normalize)
    .map(({ username, email = '' }) => `${username} <${readPastedEmail(email)}>`)
}

const both = ['Iris Vale <iris@example.com>', 'Noam Petit <noam@example.com>']
const iris = both.slice(0, 1)

test.each([
  ['a semicolon', 'sep=;\r\nName;Email\r\nIris Vale;iris@example.com\r\n', ';'],
  [
    'quotes and a mark',
    '\uFEFF"sep=;"\r\n"Name";"Email"\r\n"Iris Vale";"iris@example.com"\r\n',
    ';'
  ],
  ['a tab', 'SEP=\t\nName\tEmail\nIris Vale\tiris@example.com\n', '\t'],
  ['a colon', 'sep=:\nName:Email\nIris Vale:iris@example.com\n', ':'],
  ['cells beside it', 'sep=,;;\nName,Email\nIris Vale,iris@example.com\n', ','],
  ['nothing', 'sep=\nName|Email\nIris Vale|iris@example.com\n', '|'],
  ['old line ends', 'sep=;\rName;Email\rIris Vale;iris@example.com\r', ';']
])('the line sep= with %s sets the separator and is no row', async (_, text, delimiter) => {
  const file = await open(text)
  expect(file.dialect).toMatchObject({ delimiter, hasHeader: true, firstRow: 1 })
  expect(file.count).toMatchObject({ rows: 2, faults: {} })
  expect(await peopleOf(file)).toEqual(iris)
})

test.each([
  ['People of the north\r\nPrinted 27/11/2026\r\n\r\n', 4],
  ['People of the north;;\r\n;;\r\n', 3],
  ['"Name, email and group\nof everybody"\r\n', 2],
  ['Name\r\n', 2],
  ['\r\n', 2],
  ['sep=;\r\nListe\r\n', 2]
])('finds the headings below the title %j', async (title, firstRow) => {
  const rows =
    'Name;Email;Note\r\nIris Vale;iris@example.com;a\r\nNoam Petit;noam@example.com;b\r\n'
  const file = await open(title + rows)
  expect(file.dialect).toMatchObject({ delimiter: ';', hasHeader: true, firstRow })
  expect(file.count).toMatchObject({ rows: 3, faults: {} })
  expect(await peopleOf(file)).toEqual(both)
})

test('finds unknown headings below a title, and takes those that a person chooses', async () => {
  const file = await open('Liste\n\nPers;Kontakt\nIris Vale;iris@example.com\n')
  expect(file.dialect).toMatchObject({ hasHeader: true, firstRow: 3 })
  expect(file.headingRows.map(({ row }) => row)).toEqual([1, 3, 4])
  await changeDialect(userImportKind, { hasHeader: false, firstRow: 1 })
  expect(opened().count?.rows).toBe(3)
  await changeDialect(userImportKind, { hasHeader: true, firstRow: 3 })
  expect(opened()).toMatchObject({ rows: [['Pers', 'Kontakt'], { length: 2 }], count: { rows: 2 } })
})

test('a file without headings has none', async () => {
  const file = await open('Iris Vale;iris@example.com\nNoam Petit;noam@example.com\n')
  expect(file.dialect).toMatchObject({ hasHeader: false, firstRow: 1 })
})

test.each([
  ['First Name,Last Name,Email Address', 'Iris,Vale,iris@example.com'],
  ['NOM;PRENOM;ADRESSE ELECTRONIQUE', 'Vale;Iris;iris@example.com'],
  ['Nom de famille\tPrénom\tCourriel', 'Vale\tIris\tiris@example.com'],
  ['Vorname;Nachname;Mail', 'Iris;Vale;iris@example.com'],
  ['Name;Vorname;Mail', 'Vale;Iris;iris@example.com'],
  ['Surname;Given name;Mail', 'Vale;Iris;iris@example.com'],
  ['Prénom;Nom;Nom complet;Mail', 'Iris;Vale;Iris Vale;iris@example.com'],
  ['Name,Given Name,Family Name,E-mail', 'Iris Vale,Iris,Vale,iris@example.com'],
  ['Display name,First name,Last name,User name,Mail', ',Iris,Vale,ivale,iris@example.com'],
  ['Prénom NOM;Courriel', 'Iris Vale;iris@example.com'],
  ['Nom et prénom;Courriel', 'Iris Vale;iris@example.com'],
  ['Nom;Entreprise;Courriel', 'Iris Vale;Verger;iris@example.com'],
  ['Nom de l’entreprise;Nom;Courriel', 'Verger;Iris Vale;iris@example.com']
])('reads the whole name below %j', async (headings, row) => {
  expect(await peopleOf(await open(`${headings}\n${row}\n`))).toEqual(iris)
})

test.each(['First name;Email', 'Last name;Email', 'Prénom;Courriel', 'Company name;Email'])(
  'guesses no half of a name below %j',
  async headings => {
    const { mapping } = await open(`${headings}\nIris;iris@example.com\n`)
    expect(mapping).toEqual({ email: 1 })
  }
)

test.each([
  [
    'First Name,Middle Name,Last Name,Phonetic First Name,Labels,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Value',
    'Iris,,Vale,,* myContacts,* Work,iris@example.com,'
  ],
  [
    'Name,Given Name,Family Name,Group Membership,E-mail 1 - Type,E-mail 1 - Value',
    'Iris Vale,Iris,Vale,* myContacts,Work,iris@example.com'
  ],
  [
    'First Name,Last Name,Company,E-mail Type,E-mail Display Name,E-mail Address,Manager’s Name',
    'Iris,Vale,Orchard,SMTP,Iris Vale (iris),iris@example.com,Bo'
  ],
  [
    '"Prénom","Nom","Société","Type de messagerie","Nom complet de l’adresse de messagerie","Adresse de messagerie"',
    '"Iris","Vale","Verger","SMTP","Iris Vale","iris@example.com"'
  ],
  ['E-mail notifications;E-mail;Name', 'yes;iris@example.com;Iris Vale'],
  ['Email;Contact;Name', 'yes;iris@example.com;Iris Vale']
])('of several columns takes the one with e-mails: %j', async (headings, row) => {
  const file = await open(`${headings}\n${row}\n`)
  expect(await peopleOf(file)).toEqual(iris)
  expect(file.mapping['groups']).toBeUndefined()
})

test.each([
  ['Nom, prénom;Courriel\r\nVale, Iris;iris@example.com\r\nPetit, Noam;noam@example.com\r\n', ';'],
  ['Nom, prénom, titre;Ville\nVale, Iris, Dr;Lyon\n', ';'],
  ['Nom;Note\nIris;1,5\nNoam;2,5\n', ';'],
  ['Name,Email,Groups\nIris,iris@example.com,A;B\nNoam,noam@example.com,A;B\n', ','],
  ['Name | Email | City, state\nIris Vale | iris@example.com | Lyon, FR\n', '|'],
  ['Name, Email\nIris Vale, iris@example.com\n', ',']
])('separates %j', async (text, delimiter) => {
  expect((await open(text)).dialect.delimiter).toBe(delimiter)
})

test.each<[Encoding, string, string]>([
  ['windows-1250', '\r\n', 'Łucja Wiśniewska'],
  ['windows-1250', '\n', 'Paweł Zając'],
  ['windows-1250', '\n', 'Lech Wałęsa'],
  ['macintosh', '\r', 'Hélène Vale'],
  ['macintosh', '\n', 'François Noël'],
  ['macintosh', '\r', 'Zoé Müller'],
  ['ibm850', '\r\n', 'Hélène Vale'],
  ['ibm850', '\r\n', 'François Noël'],
  ['windows-1252', '\r\n', 'Hélène Créée'],
  ['windows-1252', '\n', 'ÉLÉONORE L’HÔTE'],
  ['windows-1252', '\n', 'Søren Müller'],
  ['windows-1252', '\n', 'José Muñoz «Pepe»'],
  ['windows-1251', '\r\n', 'Иван Петров'],
  ['utf-8', '\n', 'Łucja Wiśniewska']
])('guesses %s of rows that end with %j: %s', async (encoding, end, name) => {
  const text = ['Nom;Courriel', `${name};iris@example.com`, ''].join(end)
  const file = await open(encodeText(text, encoding, false) ?? '')
  expect(await peopleOf(file)).toEqual([`${name} <iris@example.com>`])
})

test('reads another encoding where it is chosen', async () => {
  const file = await open(encodeText('Nom;Mail\nJiří;a@example.com\n', 'iso-8859-2', false) ?? '')
  await changeDialect(userImportKind, { encoding: 'iso-8859-2' })
  expect(await peopleOf(opened())).toEqual(['Jiří <a@example.com>'])
  expect(file.mapping).toEqual(opened().mapping)
})

test.each([
  '\u200Biris@example.com',
  'iris@example.com\u200E',
  '\u202Airis@example.com\u202C',
  '\uFEFF iris@example.com\u00A0',
  'mailto:iris@example.com',
  'MAILTO:iris%40example.com?subject=Hello',
  'Iris Vale <iris@example.com>',
  '"Vale, Iris" <mailto:iris@example.com>',
  '<Iris@Example.com>'
])('reads the e-mail in %j', text => {
  expect(readPastedEmail(text)).toBe('iris@example.com')
})

test.each([
  '',
  'Iris',
  'a@example.com, b@example.com',
  '<a@example.com> and more',
  'mailto:',
  '<>'
])('reads no e-mail in %j', text => {
  expect(readPastedEmail(text)).toBeUndefined()
})

test('drops invisible marks around names and groups', async () => {
  const file = await open(
    'Name,Email,Groups\n\u200BIris Vale\u200E,\u2060iris@example.com,\u200BA; B\u200B\n'
  )
  const { rows } = await readRowValuesByField(userImportKind, file, 2, 1)
  expect(rows.map(userImportKind.normalize)).toEqual([
    { username: 'Iris Vale', email: 'iris@example.com', groups: 'A; B', locale: '' }
  ])
})

test.each([
  ['Name, Email\n"Iris Vale", "iris@example.com"\n'],
  ['"Name" , "Email"\n "Iris Vale" ,\t"iris@example.com"\n'],
  ['"Name";  "Email"\r\n"Iris Vale";\u00A0"iris@example.com"\r\n'],
  ['"Email"; "Note"; "Name"\n"iris@example.com"; "one; ""two"" \n three, "; "Iris Vale"\n']
])('a blank before a quotation mark is no part of the cell: %j', async text => {
  const file = await open(text)
  expect(file.count?.faults).toEqual({})
  expect(await peopleOf(file)).toEqual(iris)
})

test('keeps quotation marks and blanks that belong to a cell', async () => {
  const file = await open('Name,Email,Note\nIris "Iri" Vale,iris@example.com,"a, ""b"", c"\n')
  expect(file.rows[1]).toEqual(['Iris "Iri" Vale', 'iris@example.com', 'a, "b", c'])
})

test.each([
  ['a row of ten million cells', () => 'Email,'.repeat(10_000_000 / 6)],
  [
    'it after many rows',
    () => `Email,Name\n${'a@example.com,A\n'.repeat(40_000)}${'x,'.repeat(5_000_000)}`
  ]
])('refuses %s early', async (_, content) => {
  const file = new File([content()], 'wide.csv')
  // other processes may keep the machine busy
  const start = process.cpuUsage()
  await readImportFile(userImportKind, file)
  const { user, system } = process.cpuUsage(start)
  expect((user + system) / 1000).toBeLessThan(4_000)
  const found = $importFile.get()
  if (found.status === 'read') expect(found.count?.faults.wide).toEqual({ row: 40_002, count: 1 })
  else expect(found).toMatchObject({ status: 'refused', why: 'too_wide' })
})

test.each([
  'Name;Email;;;\r\nIris Vale;iris@example.com;;;\r\n;;;;\r\n',
  'Name,Email\nIris Vale,iris@example.com,\n',
  'Name,Email,\nIris Vale,iris@example.com\n'
])('separators behind the last column are no fault: %j', async text => {
  const file = await open(text)
  expect(file.count?.faults).toEqual({})
  expect(await peopleOf(file)).toEqual(iris)
})

test('joins the parts of names where the whole names have gaps', async () => {
  const file = await open(
    'First Name,Last Name,Display Name,Primary Email\nIris,Vale,Iris Vale,iris@example.com\nNoam,Petit,,noam@example.com\n'
  )
  expect(await peopleOf(file)).toEqual(both)
})

test('takes a thousand columns', async () => {
  const file = await open(`Email${',x'.repeat(999)}\na@example.com${',y'.repeat(999)}\n`)
  expect(file.rows[0]).toHaveLength(1000)
})
