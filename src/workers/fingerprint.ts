import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { createSHA256 } from 'hash-wasm'

// two files may be read at the same time, and a phone must have memory for the pieces of both
const readBytes = 4 * 1024 * 1024

interface Hasher {
  update(bytes: Uint8Array): unknown
  digest(): string
}

/** A piece may be used only until the next one is requested. */
export type FilePieces = AsyncIterable<Uint8Array>

export const maxFileBytesForBrowserDigest = 32_000_000

/**
 * Such files are hashed with `digest` one at a time, because the browser needs memory for about
 * three times the file.
 */
export const minFileBytesForHashLock = 8 * 1024 * 1024

// shared by the workers of all tabs
const lockName = 'vidimus-whole-file'

// undefined on pages without HTTPS
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
 * `digest` is two to three times as fast as WebAssembly, but needs the whole file in memory. So
 * only one large file at a time uses it, and meanwhile the others are hashed piece by piece.
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

// undefined without running `work` if the lock is not free or the browser refuses locks; it
// releases the lock when it terminates the worker
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

async function readWhole(file: Blob): Promise<ArrayBuffer | undefined> {
  try {
    return await file.arrayBuffer()
  } catch {
    return undefined
  }
}

// whole files would pile up until the next garbage collection
function free(buffer: ArrayBuffer): void {
  buffer.transfer?.(0)
}

function requireWhole(file: Blob, done: number): void {
  if (done < file.size) throw new Error('The file became shorter while it was read')
}

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
 * Reads the next piece while the caller uses the current one, so that at most two are in memory.
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

/** JavaScript, about five times slower, where the content security policy forbids WebAssembly. */
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
