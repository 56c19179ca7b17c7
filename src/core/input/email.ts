/** In code units, including blanks and decomposed letters. Valid e-mails are far shorter. */
const maxTypedLength = 2048

/**
 * Returns the canonical form of an e-mail. Keys, tags and look-ups are made from this form. Returns
 * undefined for an invalid e-mail and does not repair it.
 * `'Jorg.M+a@Exämple.com'` → `'jorg.m+a@xn--exmple-cua.com'`; `'Jörg@example.com'` → `undefined`,
 * because only the domain may contain other letters than ASCII
 */
export function canonicalEmail(text: string): string | undefined {
  // the URL parser takes seconds to normalise a long name
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

/**
 * Trims blanks with a loop: a regular expression would take quadratic time on long inner blanks.
 */
function trimBlanks(text: string): string {
  const isBlank = (at: number) => ' \t\n\r'.includes(text.charAt(at))
  let start = 0
  let end = text.length
  while (start < end && isBlank(start)) start++
  while (end > start && isBlank(end - 1)) end--
  return text.slice(start, end)
}

/**
 * Returns a local part in lower case, or undefined where it is quoted. A quoted one may contain a
 * colon, which separates e-mail and password in the key derivation. Lower-cases ASCII only, because
 * `toLowerCase()` turns U+212A KELVIN SIGN into `k`.
 */
function canonicalLocal(text: string): string | undefined {
  if (text.length > 64) return undefined
  if (!/^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(text)) return undefined
  return text.replace(/[A-Z]/g, letter => String.fromCharCode(letter.charCodeAt(0) + 32))
}

/**
 * Returns a domain in its ASCII form, or undefined. Checks the alphabet first, because the URL
 * parser decodes `%61` and drops `user@`.
 */
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
