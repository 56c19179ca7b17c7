import { type Bytes, concatBytes, toUtf8 } from '../bytes.ts'
import { splitSearchIntoWords } from '../text/search-words.ts'
import { createHashInputPrefix } from './formats.ts'

/**
 * Returns the bytes from which the tag of a register's row is computed. The tag covers the check
 * fields, too, so a wrong check field is an unknown tag, like an unknown reference. `source` is the
 * id of the register. Letter case, accents and spaces make no difference; dates are `YYYY-MM-DD`.
 */
export function referenceTagMessage(
  source: string,
  reference: string,
  checkFields: readonly string[]
): Bytes {
  const values = [reference, ...checkFields].map(value =>
    toUtf8(splitSearchIntoWords(value).join(' '))
  )
  return concatBytes(
    createHashInputPrefix(`tag/row/${source}`),
    ...values.flatMap(value => [lengthOf(value), value])
  )
}

// without lengths, the values `ab`, `c` would have the tag of `a`, `bc`
function lengthOf(value: Uint8Array): Bytes {
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, value.length)
  return length
}
