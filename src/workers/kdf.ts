import { argon2id as nobleArgon2id } from '@noble/hashes/argon2.js'
import { argon2id as wasmArgon2id } from 'hash-wasm'
import { AppError, type ErrorCode } from '../contract/kit/errors.ts'
import { ChallengeError, type ChallengePurpose } from '../core/keys/challenge.ts'
import { type Argon2id, deriveKeyPair } from '../core/keys/kdf.ts'
import { createSigner, importSigningKey, type PublicKeyJwtInput, type Signer } from './signer.ts'

// long enough for all API calls of one form, such as a sign-up and the sign-in after it
const keepMilliseconds = 60_000

/**
 * The types are not validated, because page and worker belong to the same build. The challenge is
 * checked, because it comes from the server.
 */
export type SigningWorkerRequest =
  // In canonical form.
  | { kind: 'open'; email: string; password: string }
  | { kind: 'respond'; id: number; challenge: string; purpose: ChallengePurpose; host: string }
  | ({ kind: 'publicKeyJwt'; id: number } & PublicKeyJwtInput)

/** `id` is that of the answered message. `closed`: the worker ends. */
export type SigningWorkerReply =
  | { kind: 'signed'; id: number; text: string }
  | { kind: 'refused'; id: number; code: ErrorCode; detail: string }
  | { kind: 'closed' }

let signer: Signer | undefined
let closing: ReturnType<typeof setTimeout> | undefined

addEventListener('message', (event: MessageEvent<SigningWorkerRequest>) => void serve(event.data))

async function serve(request: SigningWorkerRequest): Promise<void> {
  if (request.kind === 'open') {
    signer = open(request.email, request.password)
    closeLater()
    return
  }
  const { id } = request
  try {
    if (!signer) throw new Error('kdf: not open')
    const text = await (request.kind === 'respond'
      ? signer.respond(request.challenge, request.purpose, request.host)
      : signer.publicKeyJwt(request))
    reply({ kind: 'signed', id, text })
  } catch (error) {
    const { code, message } = toAppError(error)
    reply({ kind: 'refused', id, code, detail: message })
  }
}

function open(email: string, typedPassword: string): Signer {
  let password: string | undefined = typedPassword
  return createSigner(email, async kdf => {
    if (!globalThis.crypto?.subtle)
      throw new AppError('unavailable', 'Keys need a page served by https or from localhost')
    // one derivation per worker, so that the password itself need not be stored
    if (password === undefined) throw new ChallengeError('kdf')
    const derived = deriveKeyPair(kdf, email, password, argon2id)
    password = undefined
    const key = await importSigningKey(await derived)
    closeLater()
    return key
  })
}

function closeLater(): void {
  clearTimeout(closing)
  closing = setTimeout(() => {
    reply({ kind: 'closed' })
    close()
  }, keepMilliseconds)
}

// in JavaScript, five times slower, where a content security policy forbids WebAssembly
const argon2id: Argon2id = async input => {
  const { password, salt, memoryKib, passes, lanes, bytes } = input
  try {
    return await wasmArgon2id({
      password,
      salt,
      memorySize: memoryKib,
      iterations: passes,
      parallelism: lanes,
      hashLength: bytes,
      outputType: 'binary'
    })
  } catch {
    return nobleArgon2id(password, salt, { m: memoryKib, t: passes, p: lanes, dkLen: bytes })
  }
}

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (error instanceof ChallengeError) return new AppError('challenge_invalid', error.message)
  return new AppError('internal', String(error))
}

function reply(message: SigningWorkerReply): void {
  postMessage(message)
}
