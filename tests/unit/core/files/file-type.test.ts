import { expect, test } from 'vitest'
import { MediaType } from '../../../../src/contract/deposits.ts'
import { mediaTypeOfFile } from '../../../../src/core/files/file-type.ts'
import { acceptsMediaType, mediaTypesByKind } from '../../../../src/core/media-types.ts'

const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

test.each([
  ['IMG_0001.HEIC', '', 'image/*'],
  ['IMG_0002.heic', 'application/octet-stream', 'image/*'],
  ['scan.tif', '', 'image/*'],
  ['list.csv', 'application/vnd.ms-excel', 'text/*'],
  ['notes.md', '', 'text/*'],
  ['contract.docx', '', docx]
])('%s, told as “%s”, is accepted by %s', (name, told, accepted) => {
  expect(acceptsMediaType([accepted], mediaTypeOfFile(name, told))).toBe(true)
})

test.each([
  // no type, or one of unknown bytes
  ['a.pdf', undefined, 'application/pdf'],
  ['a.PDF ', 'binary/octet-stream', 'application/pdf'],
  ['a.pdf', 'application/x-www-form-urlencoded', 'application/pdf'],
  ['a.pdf', 'application/force-download', 'application/pdf'],
  ['march.2024/a.pdf', 'no type', 'application/pdf'],
  // the container, or the program that opens it
  ['a.docx', 'application/zip', docx],
  ['a.docx', 'application/msword', docx],
  ['a.xlsx', 'application/vnd.ms-excel', xlsx],
  ['a.xlsx', 'application/x-zip-compressed', xlsx],
  ['a.xls', 'application/vnd.ms-excel', 'application/vnd.ms-excel'],
  ['a.zip', 'application/x-zip-compressed', 'application/zip'],
  ['a.md', 'text/plain', 'text/markdown'],
  ['a.svg', 'text/xml', 'image/svg+xml'],
  ['a.txt', 'text/plain', 'text/plain'],
  // outdated names
  ['a.jpg', 'image/jpg', 'image/jpeg'],
  ['a.jpeg', 'image/pjpeg', 'image/jpeg'],
  ['a.pdf', 'application/x-pdf', 'application/pdf'],
  ['a.csv', 'text/x-csv; charset=utf-8', 'text/csv'],
  // a type that is not known to be wrong stays
  ['a.pdf', 'Text/HTML; charset=utf-8', 'text/html'],
  ['a', 'image/png', 'image/png'],
  // nothing tells more
  ['a.unheard', '', 'application/octet-stream'],
  ['a.unheard', 'text/plain', 'text/plain'],
  ['pdf', '', 'application/octet-stream'],
  ['a.constructor', '', 'application/octet-stream'],
  ['', 'x'.repeat(300), 'application/octet-stream']
])('%s, told as %s, is %s', (name, told, expected) => {
  expect(mediaTypeOfFile(name, told)).toBe(expected)
  expect(MediaType.safeParse(expected).success).toBe(true)
})

test('knows an extension of each type that a category can name by its kind', () => {
  const names = 'pdf png doc xls ppt docx xlsx pptx odt ods odp txt'.split(' ')
  const known = names.map(name => mediaTypeOfFile(`a.${name}`, ''))
  for (const type of Object.values(mediaTypesByKind).flat()) {
    expect(known.some(each => acceptsMediaType([type], each))).toBe(true)
  }
})
