import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { createSHA256 } from 'hash-wasm'

/**
 * Bytes that are read at once: many enough for speed, few enough for two files at a time on a
 * phone.
 */
const readBytes = 4 * 1024 * 1024

interface Hasher {
  update(bytes: Uint8Array): unknown
  digest(): string
}

/**
 * The bytes of a file in order, in pieces. A piece may be used only until the next piece is
 * requested.
 */
export type FilePieces = AsyncIterable<Uint8Array>

/**
 * Bytes of the largest file that the browser's own `digest` hashes as a whole. The browser copies
 * the file, so two files at a time take four times as much memory.
 */
export const maxDigestBytes = 32_000_000

interface FingerprintOptions {
  onProgress?: (bytesDone: number) => void
  startHasher?: () => Promise<Hasher>
  read?: (file: Blob) => FilePieces
}

/**
 * Returns the SHA-256 of a file in hex. Hashes a file of up to 32 MB with the browser's own
 * `digest`, which is two to three times as fast as WebAssembly but takes whole files only and
 * exists only on pages with HTTPS. Hashes any other file piece by piece.
 */
export async function fingerprintFile(
  file: Blob,
  options: FingerprintOptions = {},
  subtle: Pick<SubtleCrypto, 'digest'> | undefined = globalThis.crypto?.subtle
): Promise<string> {
  // the browser hands over a whole file twice as fast as its pieces
  const whole = subtle && file.size <= maxDigestBytes ? await readWhole(file) : undefined
  if (!subtle || !whole) return fingerprintInPieces(file, options)
  requireWhole(file, whole.byteLength)
  const digest = await subtle.digest('SHA-256', whole)
  free(whole)
  options.onProgress?.(file.size)
  return bytesToHex(new Uint8Array(digest))
}

/**
 * Reads a whole file into memory. Returns undefined if the file cannot be read or the device lacks
 * memory.
 */
async function readWhole(file: Blob): Promise<ArrayBuffer | undefined> {
  try {
    return await file.arrayBuffer()
  } catch {
    return undefined
  }
}

/**
 * Frees the memory of a buffer at once. Otherwise whole files would pile up until the next garbage
 * collection.
 */
function free(buffer: ArrayBuffer): void {
  buffer.transfer?.(0)
}

function requireWhole(file: Blob, done: number): void {
  if (done < file.size) throw new Error('The file became shorter while it was read')
}

/**
 * Returns the SHA-256 of a file of any size in hex. Hashes the file piece by piece, so that it need
 * not fit into memory.
 */
export async function fingerprintInPieces(
  file: Blob,
  { onProgress, startHasher = createHasher, read = readInPieces }: FingerprintOptions = {}
): Promise<string> {
  const hasher = await startHasher()
  let done = 0
  for await (const bytes of read(file)) {
    hasher.update(bytes)
    done += bytes.length
    onProgress?.(done)
  }
  requireWhole(file, done)
  return hasher.digest()
}

/**
 * Yields the bytes of a file in pieces of 4 MiB. Reads the next piece while the caller uses the
 * current one, so that at most two pieces are in memory.
 */
export async function* readInPieces(file: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let reading = readPiece(file, 0)
  let done = 0
  while (done < file.size) {
    const bytes = await reading
    if (bytes.length === 0) return
    done += bytes.length
    reading = readPiece(file, done)
    yield bytes
  }
  await reading
}

/**
 * Creates a SHA-256 hasher in WebAssembly. If the content security policy forbids WebAssembly,
 * creates one in JavaScript, which is about five times slower.
 */
export async function createHasher(): Promise<Hasher> {
  try {
    const hasher = await createSHA256()
    hasher.init()
    return { update: bytes => hasher.update(bytes), digest: () => hasher.digest('hex') }
  } catch {
    return createJavaScriptHasher()
  }
}

/** Creates a SHA-256 hasher in JavaScript. */
export function createJavaScriptHasher(): Hasher {
  const hasher = sha256.create()
  return { update: bytes => hasher.update(bytes), digest: () => bytesToHex(hasher.digest()) }
}

async function readPiece(file: Blob, start: number): Promise<Uint8Array<ArrayBuffer>> {
  if (start >= file.size) return new Uint8Array(0)
  return new Uint8Array(await file.slice(start, start + readBytes).arrayBuffer())
}
