// longer than any valid e-mail, for blanks at both ends and decomposed letters
const maxTypedLength = 2048

/**
 * The form of keys, hashes and searches: `'Jorg.M+a@Exämple.com'` →
 * `'jorg.m+a@xn--exmple-cua.com'`. Letters outside ASCII are allowed in the domain only.
 */
export function canonicalEmail(text: string): string | undefined {
  // the URL parser takes seconds to normalize a long name
  if (text.length > maxTypedLength || !text.isWellFormed()) return undefined
  const parts = trimBlanks(text).split('@')
  const [typedLocal, typedDomain] = parts
  if (parts.length !== 2 || typedLocal === undefined || typedDomain === undefined) return undefined
  const local = canonicalLocal(typedLocal)
  const domain = canonicalDomain(typedDomain)
  if (local === undefined || domain === undefined) return undefined
  const email = `${local}@${domain}`
  return email.length <= 254 ? email : undefined
}

// a regular expression would take quadratic time for many blanks in a row
function trimBlanks(text: string): string {
  const isBlank = (at: number) => ' \t\n\r'.includes(text.charAt(at))
  let start = 0
  let end = text.length
  while (start < end && isBlank(start)) start++
  while (end > start && isBlank(end - 1)) end--
  return text.slice(start, end)
}

// no quoted part: a colon in it would end the e-mail in the key derivation
function canonicalLocal(text: string): string | undefined {
  if (text.length > 64) return undefined
  if (!/^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(text)) return undefined
  return text.replace(/[A-Z]/g, letter => String.fromCharCode(letter.charCodeAt(0) + 32))
}

// characters first, because the URL parser decodes `%61` and drops `user@`
function canonicalDomain(text: string): string | undefined {
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return undefined
  if (!URL.canParse(`http://${text}`)) return undefined
  const { hostname } = new URL(`http://${text}`)
  const labels = hostname.split('.')
  if (hostname.length > 253 || labels.length < 2 || !labels.every(isLabel)) return undefined
  // the parser turns `1.2` into the address `1.0.0.2`
  return /^[a-z]/.test(labels.at(-1) ?? '') ? hostname : undefined
}

function isLabel(label: string): boolean {
  return label.length <= 63 && /^[a-z0-9-]+$/.test(label) && !/^-|-$/.test(label)
}
