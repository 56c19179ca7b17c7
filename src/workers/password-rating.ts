import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'
import { newPasswordFault, type PasswordStrength } from '../core/input/password.ts'

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
const listed = new Set(dictionary['passwords-common'].map(String))

// so many letters and digits besides words of the owner, such as name or e-mail, make a password
// good
const minOthers = 6

/** For an attacker who tries `words` first, from 0 (very easy) to 4. */
export function ratePassword(password: string, words: string[]): PasswordStrength {
  const normalized = password.normalize('NFKC')
  // attackers try a password from a list first, however long it is
  if (listed.has(normalized.toLowerCase())) return 0
  const { score } = zxcvbn.check(normalized, words)
  // the meter must not show a password as good that the form then refuses
  if (newPasswordFault(password)) return score > 2 ? 2 : score
  // the estimate grows with each word, even for the few words of the owner
  const rest = withoutGuessable(normalized, words)
  if (score <= 2 || rest === fold(normalized)) return score
  const others = rest.replace(/[^\p{L}\p{N}]/gu, '')
  const isOwn = [...others].length < minOthers
  return isOwn || zxcvbn.check(rest, words).score <= 2 ? 2 : score
}

// without what attackers add first, such as years and repetitions: `'Mairie2026Mairie'` → `'mairie
// '`
function withoutGuessable(password: string, words: string[]): string {
  const longestFirst = words.map(fold).toSorted((a, b) => b.length - a.length)
  const unknown = longestFirst.reduce((left, word) => left.replaceAll(word, ' '), fold(password))
  const undated = unknown
    .replace(/(?<!\d)(?:19|20)\d\d(?!\d)/g, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
  return undated.length > maxRepeated ? undated : withoutRepetitions(undated)
}

// a longer password is good without looking for repetitions, which would take long
const maxRepeated = 200

function withoutRepetitions(text: string): string {
  let kept = ''
  for (let at = 0; at < text.length; ) {
    let length = 0
    for (let next = minRepeated; at + next <= text.length; next++) {
      if (!text.slice(0, at).includes(text.slice(at, at + next))) break
      length = next
    }
    if (length === 0) kept += text[at]
    at += Math.max(length, 1)
  }
  return kept
}

const minRepeated = 4

function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}
