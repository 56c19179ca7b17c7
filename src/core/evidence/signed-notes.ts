import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToNumberLE } from '@noble/curves/utils.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { type Bytes, concatBytes, fromBase64, toHex, toUtf8 } from '../bytes.ts'

/** A text with signatures, as in C2SP signed-note. */
export interface SignedNote {
  /** What is signed. Ends with a line feed. */
  text: string
  signatures: NoteSignature[]
}

interface NoteSignature {
  name: string
  /** 8 hex digits. */
  keyId: string
  signature: Bytes
}

/** The public key of whoever signs notes. */
export interface VerifierKey {
  /** As people write it: `<name>+<key id>+<base64 of type and key>` */
  text: string
  name: string
  keyId: string
  type: number
  publicKey: Bytes
}

/** The type of keys that sign with plain Ed25519, as logs do. */
export const ed25519Type = 1
const cosignatureType = 4

// C2SP signed-note asks readers to accept at least as many
const maxSignatures = 16

/** Throws if the text is not a signed note. Signatures are not verified. */
export function parseSignedNote(note: string): SignedNote {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) throw new Error('note: no signatures')
  if (!note.isWellFormed() || hasControlCharacter(note))
    throw new Error('note: a character is not allowed')
  const lines = note.slice(end + 2, -1).split('\n', maxSignatures + 1)
  if (lines.length > maxSignatures) throw new Error('note: too many signatures')
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

/** Throws if the text is not a verifier key, or its id is not that of name, type and key. */
export function parseVerifierKey(text: string): VerifierKey {
  const [name = '', keyId = ''] = text.split('+', 2)
  const bytes = fromBase64(text.slice(name.length + keyId.length + 2))
  if (!isKeyName(name) || bytes.length < 2) throw new Error('key: not <name>+<id>+<base64>')
  const [type = 0] = bytes
  const publicKey = bytes.slice(1)
  // the others have rules of their own for ids and lengths
  const isEd25519 = type === ed25519Type || type === cosignatureType
  if (isEd25519 && publicKey.length !== 32) throw new Error('key: Ed25519 keys have 32 bytes')
  if (!/^[0-9a-f]{8}$/.test(keyId) || (isEd25519 && keyId !== keyIdOf(name, bytes)))
    throw new Error('key: the id is not that of name and key')
  return { text, name, keyId, type, publicKey }
}

/**
 * Returns those of the keys that signed the note. Throws if a signature of one of them is wrong or
 * stands there twice. Signatures of other keys are ignored.
 */
export function findSigners(note: SignedNote, keys: readonly VerifierKey[]): VerifierKey[] {
  const message = toUtf8(note.text)
  return keys.filter(key => {
    const own = note.signatures.filter(each => each.name === key.name && each.keyId === key.keyId)
    const [first, second] = own
    if (second) throw new Error('note: two signatures of one key')
    if (first && !isSignedBy(key, first.signature, message))
      throw new Error('note: a signature is wrong')
    return first !== undefined
  })
}

/**
 * What people compare: the first 20 hex digits of the SHA-256 of the verifier key's text, in groups
 * of four. The id of a key has only 8 digits, which others can imitate.
 */
export function shortKeyOf({ text }: VerifierKey): string {
  const digits = toHex(sha256(toUtf8(text))).slice(0, 20)
  return (digits.match(/.{4}/g) ?? []).join(' ')
}

/** `typeAndKey` is what the text of a verifier key has in base64. Returns 8 hex digits. */
export function keyIdOf(name: string, typeAndKey: Bytes): string {
  return toHex(sha256(concatBytes(toUtf8(`${name}\n`), typeAndKey)).slice(0, 4))
}

function parseSignature(line: string): NoteSignature {
  const [dash, name = '', encoded = '', ...others] = line.split(' ')
  const bytes = fromBase64(encoded)
  if (dash !== '\u2014' || !isKeyName(name) || others.length > 0 || bytes.length < 5)
    throw new Error('note: not a signature line')
  return { name, keyId: toHex(bytes.slice(0, 4)), signature: bytes.slice(4) }
}

function isSignedBy({ type, publicKey }: VerifierKey, signature: Bytes, message: Bytes): boolean {
  if (type !== ed25519Type || signature.length !== 64) return false
  // noble's default, ZIP 215, accepts signatures that RFC 8032 does not
  const isValid = ed25519.verify(signature, message, publicKey, { zip215: false })
  return isValid && holdsWithoutCofactor(signature, publicKey, message)
}

// noble checks 8SB = 8R + 8kA, and OpenSSL and Go check SB = R + kA: RFC 8032 permits both, so the
// holder of a key could make signatures on which verifiers disagree
function holdsWithoutCofactor(signature: Bytes, publicKey: Bytes, message: Bytes): boolean {
  const { Point } = ed25519
  const [r, s] = [signature.slice(0, 32), signature.slice(32)]
  const k = Point.Fn.create(bytesToNumberLE(sha512(concatBytes(r, publicKey, message))))
  const kA = Point.fromBytes(publicKey).multiplyUnsafe(k)
  return Point.BASE.multiplyUnsafe(bytesToNumberLE(s)).subtract(kA).equals(Point.fromBytes(r))
}

function isKeyName(name: string): boolean {
  return name !== '' && name.isWellFormed() && !/[\p{White_Space}+]/u.test(name)
}

function hasControlCharacter(note: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: notes must not contain them
  return /[\0-\x09\x0b-\x1f]/.test(note)
}
