import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { createSHA256 } from 'hash-wasm'

/**
 * Size in bytes of the pieces in which a file is read. Larger pieces would be faster, but two files
 * may be read at the same time, and a phone must have memory for the pieces of both.
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

/** Maximum size in bytes of a file that is hashed with the browser's own `digest`. */
export const maxFileBytesForBrowserDigest = 32_000_000

/**
 * Files of at least this many bytes are hashed with `digest` one at a time, because the browser
 * needs memory for about three times the file.
 */
export const minFileBytesForHashLock = 8 * 1024 * 1024

/**
 * Name of the Web Lock that a worker holds while it hashes a large file with `digest`. All tabs
 * share the lock, so only one worker at a time hashes such a file.
 */
const lockName = 'vidimus-whole-file'

/** The browser APIs that hashing uses. Both are undefined on pages without HTTPS. */
interface Platform {
  subtle?: Pick<SubtleCrypto, 'digest'> | undefined
  locks?: Pick<LockManager, 'request'> | undefined
}

interface FingerprintOptions {
  onProgress?: (bytesDone: number) => void
  startHasher?: () => Promise<Hasher>
  read?: (file: Blob) => FilePieces
}

/**
 * Returns the SHA-256 of a file in hex. Hashes a file of up to 32 MB with the browser's own
 * `digest`, which is two to three times as fast as hashing piece by piece with WebAssembly. Hashes
 * larger files piece by piece, because `digest` needs the whole file in memory. Pages without HTTPS
 * have no `digest`, so they hash every file piece by piece. Only one file of 8 MiB or more is
 * hashed with `digest` at a time. Meanwhile, other files of this size are hashed piece by piece,
 * which takes no longer than waiting for `digest`.
 */
export async function fingerprintFile(
  file: Blob,
  options: FingerprintOptions = {},
  { subtle, locks }: Platform = findPlatform()
): Promise<string> {
  if (!subtle || file.size > maxFileBytesForBrowserDigest) return fingerprintInPieces(file, options)
  const hash = () => fingerprintWhole(file, subtle)
  const digest = file.size < minFileBytesForHashLock ? await hash() : await whenFree(locks, hash)
  if (digest === undefined) return fingerprintInPieces(file, options)
  options.onProgress?.(file.size)
  return digest
}

function findPlatform(): Platform {
  return { subtle: globalThis.crypto?.subtle, locks: globalThis.navigator?.locks }
}

/**
 * Runs `work` while it holds the lock `lockName`, and returns the result. Returns undefined without
 * running `work` if the lock is not free, or if the browser refuses locks. The browser releases the
 * lock when it terminates the worker.
 */
async function whenFree<Result>(
  locks: Platform['locks'],
  work: () => Promise<Result>
): Promise<Result | undefined> {
  let working: Promise<Result> | undefined
  try {
    await locks?.request(lockName, { ifAvailable: true }, lock => {
      if (lock) working = work()
      return working
    })
  } catch {
    // an error of `work` is thrown below; browsers also refuse locks, as in sandboxed frames
  }
  return working
}

/** Returns the SHA-256 in hex, or undefined if the file cannot be read into memory as a whole. */
async function fingerprintWhole(
  file: Blob,
  subtle: Pick<SubtleCrypto, 'digest'>
): Promise<string | undefined> {
  // the browser hands over a whole file twice as fast as its pieces
  const whole = await readWhole(file)
  if (!whole) return undefined
  requireWhole(file, whole.byteLength)
  const digest = await subtle.digest('SHA-256', whole)
  free(whole)
  return bytesToHex(new Uint8Array(digest))
}

/** Returns undefined if the file cannot be read or the device lacks memory. */
async function readWhole(file: Blob): Promise<ArrayBuffer | undefined> {
  try {
    return await file.arrayBuffer()
  } catch {
    return undefined
  }
}

/** Frees memory now. Otherwise whole files would pile up until the next garbage collection. */
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

export function createJavaScriptHasher(): Hasher {
  const hasher = sha256.create()
  return { update: bytes => hasher.update(bytes), digest: () => bytesToHex(hasher.digest()) }
}

async function readPiece(file: Blob, start: number): Promise<Uint8Array<ArrayBuffer>> {
  if (start >= file.size) return new Uint8Array(0)
  return new Uint8Array(await file.slice(start, start + readBytes).arrayBuffer())
}
