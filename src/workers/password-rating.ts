import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'
import { newPasswordFault, type PasswordStrength } from '../core/input/password.ts'

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
const listed = new Set(dictionary['passwords-common'].map(String))

/**
 * A password that contains words of its owner, such as name or e-mail, is good only with at least
 * this many other letters and digits.
 */
const minOthers = 6

/**
 * Returns how hard a password is to guess for an attacker who tries `words` first, from 0 (very
 * easy) to 4.
 */
export function ratePassword(password: string, words: string[]): PasswordStrength {
  const normalized = password.normalize('NFKC')
  // attackers try a password from a list first, however long it is
  if (listed.has(normalized.toLowerCase())) return 0
  const { score } = zxcvbn.check(normalized, words)
  // the meter must not show a password as good that the form then refuses
  if (newPasswordFault(password)) return score > 2 ? 2 : score
  // the estimate grows with each word, even for the few words of the owner
  return score > 2 && isOwn(normalized.toLowerCase(), words) ? 2 : score
}

/**
 * Returns whether a password consists mostly of words of its owner: it contains such words and
 * fewer than six other letters and digits. Example: `'gracehopper12'` with the words `'grace'` and
 * `'hopper'` → true
 */
function isOwn(password: string, words: string[]): boolean {
  const longestFirst = words.toSorted((a, b) => b.length - a.length)
  const rest = longestFirst.reduce((left, word) => left.replaceAll(word, ' '), password)
  const others = rest.replace(/[^\p{L}\p{M}\p{N}]/gu, '')
  return rest !== password && [...others].length < minOthers
}
