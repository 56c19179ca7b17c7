import { AppError } from '../contract/kit/errors.ts'
import { canonicalEmail } from '../core/input/email.ts'
import { normalizePassword } from '../core/input/password.ts'
import type { SigningWorkerReply, SigningWorkerRequest } from './kdf.ts'
import type { PoolWorker } from './pool.ts'
import type { Signer } from './signer.ts'

export interface SigningWorker extends Signer {
  close(): void
}

type Question = Exclude<SigningWorkerRequest, { kind: 'open' }>
type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'id'> : never

/**
 * The keys never leave the worker. Throws `invalid_input` if the e-mail or the password is
 * malformed. The worker ends after a minute; later calls reject with `cancelled`.
 */
export function startSigningWorker(
  email: string,
  password: string,
  start: () => PoolWorker = startWorker
): SigningWorker {
  const canonical = canonicalEmail(email)
  if (canonical === undefined) throw refused('email', 'email')
  const normalized = normalizePassword(password)
  if (normalized === undefined) throw refused('password', 'format')
  const waiting = new Map<number, PromiseWithResolvers<string>>()
  let asked = 0
  let closed: AppError | undefined
  let hasSpoken = false
  const worker = start()
  worker.onmessage = ({ data }: MessageEvent<SigningWorkerReply>) => {
    hasSpoken = true
    if (data.kind === 'closed') return end(new AppError('cancelled', 'The keys were kept a minute'))
    const answer = waiting.get(data.id)
    waiting.delete(data.id)
    if (data.kind === 'signed') answer?.resolve(data.text)
    else answer?.reject(new AppError(data.code, data.detail))
  }
  worker.onerror = () => {
    // a worker that never sent a message could not be loaded, as without a network
    const code = hasSpoken ? 'internal' : 'offline'
    end(new AppError(code, 'The key worker failed'))
  }
  tell({ kind: 'open', email: canonical, password: normalized })

  function tell(message: SigningWorkerRequest): void {
    worker.postMessage(message)
  }

  function ask(question: Unnumbered<Question>): Promise<string> {
    if (closed) return Promise.reject(closed)
    asked += 1
    const answer = Promise.withResolvers<string>()
    waiting.set(asked, answer)
    tell({ ...question, id: asked })
    return answer.promise
  }

  function end(error: AppError): void {
    closed ??= error
    worker.terminate()
    for (const answer of waiting.values()) answer.reject(closed)
    waiting.clear()
  }

  return {
    respond: (challenge, purpose, host) => ask({ kind: 'respond', challenge, purpose, host }),
    publicKeyJwt: request => ask({ kind: 'publicKeyJwt', ...request }),
    close: () => end(new AppError('cancelled', 'The keys were closed'))
  }
}

function startWorker(): Worker {
  return new Worker(new URL('./kdf.ts', import.meta.url), { type: 'module' })
}

function refused(field: 'email' | 'password', rule: string): AppError {
  return new AppError('invalid_input', `No key for this ${field}`, {
    fields: { [field]: { rule } }
  })
}
