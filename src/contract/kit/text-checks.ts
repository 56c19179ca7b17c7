import * as z from 'zod/mini'
import { hasDirectionControls, hasVisibleCharacter } from '../../core/text/visible-text.ts'

// Checks of text that stop at the first failure. By default zod goes on, and normalizing or matching a
// text that is far too long takes seconds. So the length is checked first.

export function maxCodeUnitsCheck(limit: number) {
  return z.maxLength(limit, { abort: true })
}

export function patternCheck(regex: RegExp, patternDescription: string) {
  return z.regex(regex, { abort: true, error: patternDescription })
}

// `sentence` describes valid texts in error responses
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

/** Trims to NFC. Needs a visible character, refuses control characters and direction controls. */
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
