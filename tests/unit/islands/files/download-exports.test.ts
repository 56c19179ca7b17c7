import { expect, test } from 'vitest'
import { csvRecord } from '../../../../src/core/csv/cells.ts'
import { addFileNames } from '../../../../src/islands/files/download-exports.ts'

const [one, many, other, deposit] = [1, 2, 3, 4].map(
  digit => `01890000-0000-7000-8000-00000000000${digit}`
) as [string, string, string, string]

test('puts names of checked files into their rows, quoted and inert, and changes nothing else', () => {
  const csv = [
    ['id', 'kind', 'created', 'state', 'code', 'name', 'size'],
    [one, 'verify', '2026-05-03T12:00:00.000Z', 'done', undefined, undefined, 2],
    [many, 'verify', '2026-05-03T12:00:00.000Z', 'done', undefined, undefined, 2],
    [other, 'verify', '2026-05-03T12:00:00.000Z', 'done', undefined, undefined, 2],
    [deposit, 'deposit', '2026-05-03T12:00:00.000Z', 'done', undefined, `a "b", ${one},verify`, 2]
  ]
    .map(cells => csvRecord(cells))
    .join('')
  const names = new Map([
    [one, ['=1+1, "x".pdf']],
    [many, ['a.pdf', 'b.pdf']],
    [deposit, ['never.pdf']]
  ])
  const [head, first, second, third, fourth, end] = addFileNames(`\ufeff${csv}`, names).split(
    '\r\n'
  )
  expect(head).toBe('\ufeffid,kind,created,state,code,name,size')
  expect(first).toBe(`${one},verify,2026-05-03T12:00:00.000Z,done,,"'=1+1, ""x"".pdf",2`)
  expect(second).toBe(`${many},verify,2026-05-03T12:00:00.000Z,done,,"a.pdf, b.pdf",2`)
  expect(`${third}\r\n${fourth}\r\n${end}`).toBe(csv.split('\r\n').slice(3).join('\r\n'))
})

test('finds the rows of a file for French spreadsheets too', () => {
  const csv = [
    ['Référence', 'Type', 'Date', 'État', 'Motif', 'Nom', 'Taille'],
    [one, 'Vérification', '27/11/2026 13:39:29', 'Vérifié', undefined, undefined, 1],
    [many, 'Vérification', '27/11/2026 13:39:29', 'Échec', 'Pas ; ici, non', undefined, 1]
  ]
    .map(cells => csvRecord(cells, ';'))
    .join('')
  const names = new Map([
    [one, ['a;b.pdf']],
    [many, ['c.pdf']]
  ])
  const [, first, second] = addFileNames(csv, names).split('\r\n')
  expect(first).toBe(`${one};Vérification;27/11/2026 13:39:29;Vérifié;;"a;b.pdf";1`)
  expect(second).toBe(`${many};Vérification;27/11/2026 13:39:29;Échec;"Pas ; ici, non";c.pdf;1`)
})
