import * as z from 'zod/mini'
import { encodings } from '../../core/csv/encodings.ts'
import { companyIdOfPage } from '../admin/admin-api.ts'
import { browserEnvironment } from '../environment.ts'

// with these, refused rows can be downloaded in the format of the file even after a reload
const SourceFileFormat = z.object({
  id: z.string(),
  dialect: z.object({
    delimiter: z.string(),
    encoding: z.enum(encodings),
    hasMark: z.boolean(),
    newline: z.enum(['\n', '\r\n', '\r', 'mixed']),
    hasHeader: z.boolean(),
    firstRow: z.number()
  }),
  // empty for a file without a header
  headings: z.array(z.string()),
  columns: z.array(z.object({ field: z.string(), column: z.number() })),
  // the first 1,000 blank rows, numbered from 1, including the header and blank rows
  blank: z.array(z.number())
})
export type SourceFileFormat = z.infer<typeof SourceFileFormat>

const Columns = z.array(z.object({ heading: z.string(), field: z.string() }))

const formatsKey = 'vidimus:import-files'
const mostFormats = 20

/** By the heading of the column. A heading without a field has `''`. */
export function loadFieldsByHeading(kind: string): Record<string, string> {
  const columns = Columns.safeParse(read(columnsKey(kind))).data ?? []
  return Object.fromEntries(columns.map(({ heading, field }) => [heading, field]))
}

export function rememberFieldsByHeading(kind: string, fields: Record<string, string>): void {
  const list = Object.entries(fields).map(([heading, field]) => ({ heading, field }))
  browserEnvironment().store(columnsKey(kind), JSON.stringify(list))
}

function columnsKey(kind: string): string {
  return `vidimus:import-columns:${kind}:${companyIdOfPage()}`
}

// of the last 20 imports
export function rememberSourceFileFormat(format: SourceFileFormat): void {
  const others = formats().filter(({ id }) => id !== format.id)
  browserEnvironment().store(formatsKey, JSON.stringify([format, ...others].slice(0, mostFormats)))
}

export function loadSourceFileFormat(id: string): SourceFileFormat | undefined {
  return formats().find(each => each.id === id)
}

function formats(): SourceFileFormat[] {
  return z.array(SourceFileFormat).safeParse(read(formatsKey)).data ?? []
}

/**
 * A spreadsheet also counts the rows above the header, the header and blank rows: row 1 of an
 * import with a header → 2
 */
export function spreadsheetRowNumber(
  row: number,
  { dialect, blank }: Pick<SourceFileFormat, 'dialect' | 'blank'>
): number {
  let number = dialect.firstRow - 1 + (dialect.hasHeader ? row + 1 : row)
  for (const each of blank) if (each <= number) number += 1
  return number
}

function read(key: string): unknown {
  try {
    return JSON.parse(browserEnvironment().readStored(key) ?? 'null')
  } catch {
    return undefined
  }
}
