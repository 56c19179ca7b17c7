import * as z from 'zod/mini'
import { hasDirectionControls, hasVisibleCharacter } from '../../core/text/visible-text.ts'

// Checks of text that stop at the first failure. By default zod goes on, and normalizing or matching a
// text that is far too long takes seconds. So the length is checked first.

/** Returns a check that refuses texts of more than `limit` UTF-16 code units. */
export function maxCodeUnitsCheck(limit: number) {
  return z.maxLength(limit, { abort: true })
}

/**
 * Returns a check that accepts only texts that match `regex`. `patternDescription` is the English
 * description of these texts for error responses.
 */
export function patternCheck(regex: RegExp, patternDescription: string) {
  return z.regex(regex, { abort: true, error: patternDescription })
}

/**
 * Returns a check that accepts a text if `isValid` returns true for it. `sentence` is the English
 * description of valid texts. The error response for a refused text contains `rule`, `limit` and
 * `sentence`.
 */
export function customCheck(
  { rule, limit }: { rule: string; limit?: number },
  sentence: string,
  isValid: (text: string) => boolean
) {
  const params = limit === undefined ? { rule } : { rule, limit }
  return z.refine<string>(isValid, { abort: true, params, error: sentence })
}

function wellFormed() {
  return customCheck({ rule: 'format' }, 'well-formed Unicode text', text => text.isWellFormed())
}

/**
 * Returns the schema of a line of text: 1 to `max` characters, at least one of them visible,
 * without control characters or direction controls. Parsing trims the text and normalizes it to
 * NFC.
 */
export function textLineSchema(max: number) {
  return z.string().check(
    z.trim(),
    z.minLength(1, { abort: true }),
    maxCodeUnitsCheck(max),
    wellFormed(),
    z.normalize('NFC'),
    // NFC decomposes a few characters
    maxCodeUnitsCheck(max),
    patternCheck(/^\P{Cc}*$/u, 'no control characters'),
    customCheck(
      { rule: 'direction' },
      'no controls of text direction',
      text => !hasDirectionControls(text)
    ),
    customCheck({ rule: 'invisible' }, 'a character that can be seen', hasVisibleCharacter)
  )
}
