import * as z from 'zod/mini'
import { registerLimits } from './kit/limits.ts'
import { customCheck, maxCodeUnitsCheck, patternCheck, textLineSchema } from './kit/text-checks.ts'

// What data sources, imports of registers and verifications have in common.

const Label = textLineSchema(80)

/** What people read beside the values of a column. */
export const ColumnLabels = z.strictObject({ en: Label, fr: Label })
export type ColumnLabels = z.infer<typeof ColumnLabels>

/** The order of day, month and year in the dates of a file. */
export const DateOrder = z.enum(['ymd', 'dmy', 'mdy'])
export type DateOrder = z.infer<typeof DateOrder>

// it may have line breaks
const storable = patternCheck(/^[^\0\p{Cs}]*$/u, 'well-formed Unicode text without NUL')

/**
 * A column of a file that the register keeps. A register has one key: `fingerprint`, the SHA-256 of
 * a document in hexadecimal, or `reference`, any identifier. Whoever asks by reference must also know
 * the values of the `check` columns, in their order. A `check` column is shown only if it is also
 * `shown`; the key and the columns of use `shown` always are.
 */
export const RegisterColumn = z.strictObject({
  // in the file, from 0
  index: z.int().check(z.gte(0), z.lte(999)),
  // by which the next import finds the column again
  header: z.string().check(maxCodeUnitsCheck(255), storable),
  use: z.enum(['fingerprint', 'reference', 'check', 'shown']),
  shown: z.boolean(),
  // absent for text; dates are shown and checked as `YYYY-MM-DD`
  date: z.optional(DateOrder),
  labels: ColumnLabels
})
export type RegisterColumn = z.infer<typeof RegisterColumn>

/** Exactly one key; check columns only beside a reference; no column twice. */
export const RegisterColumns = z
  .array(RegisterColumn)
  .check(
    z.minLength(1),
    z.maxLength(registerLimits.columns),
    customCheck(
      { rule: 'format' },
      'one key, and up to three check columns of a reference',
      isUsable
    )
  )

function isUsable(columns: readonly RegisterColumn[]): boolean {
  const count = (use: RegisterColumn['use']) => columns.filter(each => each.use === use).length
  const checks = count('check')
  return (
    count('fingerprint') + count('reference') === 1 &&
    checks <= (count('reference') === 1 ? registerLimits.checkColumns : 0) &&
    columns.every(({ use, date }) => date === undefined || use === 'check' || use === 'shown') &&
    new Set(columns.map(({ index }) => index)).size === columns.length
  )
}
