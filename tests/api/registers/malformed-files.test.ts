import { afterAll, expect, test } from 'vitest'
import { getDataSource } from '../../../src/contract/data-sources.ts'
import {
  type CsvDialectInput,
  listRefusedRows,
  type RegisterImport,
  RegisterRowReason
} from '../../../src/contract/register-imports.ts'
import { type Encoding, encodeText } from '../../../src/core/csv/encodings.ts'
import { createRandom, type Random } from '../../helpers/random.ts'
import { makeRegisterStage } from '../../helpers/registers/register-imports.ts'
import { runCount, seed, testTimeout } from '../../helpers/soak.ts'

// security.md E-01

const stage = await makeRegisterStage()
const { app, ada, makeSource, check, run, storedRows, staged, stateOf } = stage
afterAll(() => stage[Symbol.asyncDispose]())

/** A file, and the references of its rows that must be taken, if the file says so for certain. */
interface Made {
  file: Uint8Array
  dialect: Partial<CsvDialectInput>
  taken?: string[]
}

const names = ['Vale', 'Ångström', 'O’Neil', 'Noor', 'Ito', 'Zoë']
const degrees = ['Law', 'Physique', 'Art, and "more"', 'two\nlines', "'=1+1", '', 'Été']

function makeFile(random: Random): Made {
  const rows = [['number', 'name', 'born', 'degree']]
  const taken: string[] = []
  const count = random.integer(1, 12)
  for (let at = 0; at < count; at++) {
    const number = `D-${random.integer(1, 15)}`
    // the same person for the same number, so that a row is found again
    const who = names[Number(number.slice(2)) % names.length] ?? ''
    const row = [number, who, '2001-02-03', random.pick(degrees)]
    if (!taken.includes(number)) taken.push(number)
    rows.push(row)
  }
  return written(random, rows, taken)
}

/** Writes it in one of the ways that mean the same. */
function written(random: Random, rows: string[][], taken: string[]): Made {
  const delimiter = random.pick([',', ';', '\t', '|'])
  const newline = random.pick(['\n', '\r\n', '\r'] as const)
  const encoding = random.pick<Encoding>(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'])
  const hasMark = encoding.startsWith('utf-16') || random.chance(0.5)
  const cell = (text: string) => {
    const needsQuotes = [delimiter, '"', '\n', '\r'].some(each => text.includes(each))
    return needsQuotes || random.chance(0.2) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const text = rows.map(row => row.map(cell).join(delimiter)).join(newline)
  const file = encodeText(text + (random.chance(0.5) ? newline : ''), encoding, hasMark)
  if (!file) throw new Error(`${encoding} lacks a letter`)
  return { file, dialect: { delimiter, newline, encoding }, taken: taken.toSorted() }
}

const header = 'number,name,born,degree\n'
const good = 'D-3,Noor,2001-02-03,Law\n'
const plain = (text: string): Made => ({ file: Buffer.from(text), dialect: {} })

const oddRows = [
  ',Vale,2001-02-03,No key',
  ' \u00a0 ,Vale,2001-02-03,Blank key',
  'D-3,noor,2001-02-03,Twice',
  'D-4,,2001-02-03,No name',
  'D-4,Ito,31/12/1999,Other order',
  'D-4,Ito,2001-02-30,No such day',
  'D-4,Ito',
  'D-4,Ito,2001-02-03,x,y,z',
  'D-4,Ito,2001-02-03,"a"b',
  'D-4,Ito,2001-02-03,a "quoted" word',
  'D-4,Ito,2001-02-03,NUL\0',
  'D-4,Ito,2001-02-03,\ufffd',
  'D-4,Ito,2001-02-03,=HYPERLINK("http://x")',
  `D-4,Ito,2001-02-03,"'@SUM(1)"`,
  `D-4,Ito,2001-02-03,${'x'.repeat(33_000)}`,
  `${'9'.repeat(40_000)},Ito,2001-02-03,long key`,
  '__proto__,constructor,2001-02-03,toString',
  '   ,  ,,',
  ''
]

/** Damages a file in a way whose outcome is not certain, or makes one that must be refused. */
const damages: ((random: Random) => Made)[] = [
  random => {
    const rows = Array.from({ length: random.integer(1, 8) }, () => random.pick(oddRows))
    return plain(header + good + rows.join('\n'))
  },
  random => {
    const { file, dialect } = makeFile(random)
    const bytes = Buffer.from(file)
    for (let count = random.integer(1, 8); count > 0; count--) {
      bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 255)
    }
    return { file: bytes, dialect }
  },
  random => {
    const { file, dialect } = makeFile(random)
    return { file: Buffer.from(file).subarray(0, random.integer(1, file.length)), dialect }
  },
  random => {
    const { file, dialect } = makeFile(random)
    const at = random.integer(0, file.length)
    const part = random.bytes(random.integer(1, 40))
    const bytes = Buffer.from(file)
    return { file: Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)]), dialect }
  },
  random => ({ file: random.bytes(random.integer(1, 3_000)), dialect: {} }),
  // another encoding, delimiter or line end than it has
  random => {
    const { file, dialect } = makeFile(random)
    const encoding = random.pick(['utf-8', 'windows-1252', 'utf-16be', 'ibm850', 'klingon'])
    return { file, dialect: { ...dialect, encoding } }
  },
  random => {
    const { file, dialect } = makeFile(random)
    const delimiter = random.pick([',', ';', ' ', '-', '1', 'a', "'", 'é'])
    return { file, dialect: { ...dialect, delimiter } }
  },
  random => {
    const { file, dialect } = makeFile(random)
    const newline = random.pick(['\n', '\r\n', '\r', 'mixed'] as const)
    const more = { has_header: random.chance(0.5), first_row: random.integer(1, 5) }
    return { file, dialect: { ...dialect, newline, ...more } }
  },
  random =>
    plain(`${header}${good}D-4,"Ito,2001-02-03,x\n${good.repeat(random.integer(0, 9_000))}`),
  random =>
    plain(`${header}${good}D-4,Ito,2001-02-03,${'x'.repeat(random.integer(1, 40) * 50_000)}`),
  random => plain(`${header}${good}D-4${','.repeat(10 ** random.integer(2, 6))}\n`),
  random => plain(random.pick(['', header, '\n'.repeat(50), `\ufeff${header}`, '\0', '"', '"\n'])),
  random =>
    plain(
      random.pick([
        'number,name,born\nD-1,Vale,2001-02-03\n',
        'number,number,name,born,degree\nD-1,D-2,Vale,2001-02-03,Law\n',
        'degree,born,name,number\nLaw,2001-02-03,Noor,D-3\n',
        'Number,Name,Born,Degree\nD-1,Vale,2001-02-03,Law\n',
        `sep=,\n${header}${good}`
      ])
    )
]

type Rows = Map<string, string>

function difference(before: Rows, after: Rows) {
  const tags = [...after.keys()]
  const known = tags.filter(tag => before.has(tag))
  return {
    new: tags.length - known.length,
    changed: known.filter(tag => before.get(tag) !== after.get(tag)).length,
    unchanged: known.filter(tag => before.get(tag) === after.get(tag)).length,
    removed: [...before.keys()].filter(tag => !after.has(tag)).length
  }
}

async function expectCounts(source: string, item: RegisterImport, before: Rows): Promise<void> {
  const { counts, mode } = item
  if (!counts) throw new Error('a checked import has counts')
  const { refused, ...expected } = counts
  expect(item.rows).toBe(refused + counts.new + counts.changed + counts.unchanged)
  const { rows } = await ada.call(listRefusedRows, {
    ...{ id: source, importId: item.id },
    limit: 1_000
  })
  expect(rows).toHaveLength(refused)
  for (const { reasons } of rows) {
    expect(reasons.length).toBeGreaterThan(0)
    for (const { code } of reasons) expect(RegisterRowReason.options).toContain(code)
  }
  // the dry run has changed nothing
  expect((await stateOf(source)).rows).toEqual(before)
  await run(item, true)
  const found = difference(before, (await stateOf(source)).rows)
  if (mode === 'replace') expect(found).toEqual(expected)
  else expect(found).toEqual({ ...expected, unchanged: before.size })
}

const count = runCount(21, 500)

test(
  `${count} generated files leave a register as it is, or do what the dry run says (SEED=${seed})`,
  async () => {
    const random = createRandom(seed)
    const source = await makeSource()
    await run(await check(source, header + good))
    const outcomes: Record<string, number> = {}
    for (let at = 0; at < count; at++) {
      const mode = random.chance(0.4) ? 'append' : 'replace'
      // every kind of damage in each run, and a third of good files
      const damage = at % 3 === 2 ? undefined : damages[(at - Math.floor(at / 3)) % damages.length]
      const { file, dialect, taken } = damage ? damage(random) : makeFile(random)
      if (file.length === 0) continue
      const before = await stateOf(source)
      const item = await check(source, file, { mode, dialect })
      const told = `file ${at} of seed ${seed}: ${Buffer.from(file).toString('base64').slice(0, 4_000)}`
      outcomes[item.failure?.code ?? item.state] =
        (outcomes[item.failure?.code ?? item.state] ?? 0) + 1
      try {
        if (item.state === 'checked') await expectCounts(source, item, before.rows)
        else {
          expect(item).toMatchObject({ state: 'failed', counts: null })
          expect(item.failure?.code).not.toBe('interrupted')
          expect(await stateOf(source)).toEqual(before)
        }
        const after = await stateOf(source)
        const isChanged =
          item.counts && item.counts.new + item.counts.changed + item.counts.removed > 0
        expect(after.number).toBe(before.number + (isChanged ? 1 : 0))
        if (taken) {
          const kept = mode === 'append' ? before.references : []
          const expected = [...new Set([...kept, ...taken])].toSorted()
          expect([...new Set(after.references)].toSorted()).toEqual(expected)
        }
      } catch (error) {
        throw new Error(told, { cause: error })
      }
    }
    // so that the files are neither all good nor all bad
    expect(outcomes.checked).toBeGreaterThan(count / 4)
    expect(Object.keys(outcomes).length).toBeGreaterThan(3)
    await expect.poll(staged).toBe(0)
    const { current } = await ada.call(getDataSource, { id: source })
    const { rows } = await app.owner.query(
      `select coalesce(sum(rows), 0)::int as kept from register_segment s where source_id = $1
        and exists (select from register_version v where v.source_id = $1 and s.number = any (v.segments))`,
      [source]
    )
    expect(current?.rows).toBe((await stateOf(source)).rows.size)
    // rows of failed and unchanged imports are erased
    await expect.poll(() => storedRows(source), { timeout: 20_000 }).toBe(rows[0].kept)
  },
  testTimeout(300_000)
)
