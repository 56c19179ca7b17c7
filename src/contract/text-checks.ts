import * as z from 'zod/mini'
import { hasDirectionControls, isVisible } from '../core/text/visible-text.ts'

// Checks of text that end at the first one that fails. zod goes on after a failed check otherwise, and
// normalising or matching what is far too long takes seconds. So the length stands first.

/** At most `limit` code units. */
export function longest(limit: number) {
  return z.maxLength(limit, { abort: true })
}

/** Matches `regex`; `sentence` says in English what is wanted. */
export function pattern(regex: RegExp, sentence: string) {
  return z.regex(regex, { abort: true, error: sentence })
}

/** A rule of our own under the name that `fields` uses; `sentence` says in English what is wanted. */
export function rule(
  { rule, limit }: { rule: string; limit?: number },
  sentence: string,
  isKept: (text: string) => boolean
) {
  const params = limit === undefined ? { rule } : { rule, limit }
  return z.refine<string>(isKept, { abort: true, params, error: sentence })
}

/** `text.isWellFormed()` */
function wellFormed() {
  return rule({ rule: 'format' }, 'well-formed Unicode text', text => text.isWellFormed())
}

/**
 * One line that people type: 1 to `max` characters without the blanks at both ends, in NFC, without
 * control characters and controls of direction, and something of it can be seen.
 */
export function line(max: number) {
  return z.string().check(
    z.trim(),
    z.minLength(1, { abort: true }),
    longest(max),
    wellFormed(),
    z.normalize('NFC'),
    // NFC takes a few characters apart
    longest(max),
    pattern(/^\P{Cc}*$/u, 'no control characters'),
    rule(
      { rule: 'direction' },
      'no controls of text direction',
      text => !hasDirectionControls(text)
    ),
    rule({ rule: 'invisible' }, 'a character that can be seen', isVisible)
  )
}
