/**
 * The maximum length of a text that is parsed as an e-mail, in UTF-16 code units. It is longer than
 * any valid e-mail, to allow for blanks at both ends and decomposed letters.
 */
const maxTypedLength = 2048

/**
 * Returns the canonical form of an e-mail, or undefined for an invalid e-mail. Keys, hashes and
 * searches use this form. Letters outside ASCII are allowed in the domain only.
 * `'Jorg.M+a@Exämple.com'` → `'jorg.m+a@xn--exmple-cua.com'`; `'Jörg@example.com'` → `undefined`
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

/**
 * Removes blanks at both ends. Does not use a regular expression, because that would take quadratic
 * time if the text contains many blanks in a row.
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
 * Returns the part of an e-mail before the `@` in lower case, or undefined if that part is invalid.
 * Refuses a part in quotes, because it may contain a colon. The key derivation uses a colon to
 * separate e-mail and password.
 */
function canonicalLocal(text: string): string | undefined {
  if (text.length > 64) return undefined
  if (!/^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(text)) return undefined
  return text.replace(/[A-Z]/g, letter => String.fromCharCode(letter.charCodeAt(0) + 32))
}

/**
 * Returns the ASCII form (IDNA) of `text`, the part of an e-mail after the `@`. Returns undefined
 * if that part is not a valid domain. Checks the characters first, because the URL parser decodes
 * `%61` and drops `user@`.
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
