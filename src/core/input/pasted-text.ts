import { canonicalEmail } from './email.ts'

// zero-width characters, marks and embeddings of a writing direction, soft hyphens, byte order
// marks
const invisible = /[\s\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/

// one regular expression would take quadratic time for many blanks in a row
export function trimInvisible(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && invisible.test(text.charAt(start))) start++
  while (end > start && invisible.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

/** Understands `mailto:iris@example.com` and `Iris Vale <iris@example.com>`. */
export function readPastedEmail(text: string): string | undefined {
  const typed = trimInvisible(text)
  const inner = typed.endsWith('>') ? typed.slice(typed.lastIndexOf('<') + 1, -1) : typed
  return canonicalEmail(trimInvisible(withoutScheme(trimInvisible(inner))))
}

function withoutScheme(text: string): string {
  if (!/^mailto:/i.test(text)) return text
  const [address = ''] = text.slice('mailto:'.length).split('?')
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}
