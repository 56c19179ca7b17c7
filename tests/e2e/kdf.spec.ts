import { readdirSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import published from '../../public/kdf-a1.json' with { type: 'json' }
import { fromHex } from '../../src/core/bytes.ts'
import { emailHash, formatChallenge } from '../../src/core/keys/challenge.ts'
import { parsePublicKeyJwt } from '../../src/core/keys/public-key-jwt.ts'
import { publicJwk } from '../../src/core/keys/public-key-proof.ts'
import { isMatrix } from '../helpers/e2e/looks.ts'

// security.md A-01: the built worker, with the policy it is served under
// the suite derives those that differ most, as Node does; the matrix all
const vectors = published.vectors.filter((_, at) => isMatrix || [0, 1, 2, 14].includes(at))
test('the browser derives the published keys', async ({ page }) => {
  const file = readdirSync('dist/client/_astro').find(name => name.startsWith('worker-kdf-'))
  await page.goto('/en')
  for (const { name, email_c, password, x, y } of vectors) {
    const challenge = makeChallenge(email_c)
    const messages = [
      { kind: 'open', email: email_c, password: password.normalize('NFKC') },
      { kind: 'publicKeyJwt', id: 1, challenge, aud: 'localhost', purpose: 'signup' }
    ]
    const reply = await page.evaluate(askWorker, { url: `/_astro/${file}`, messages })
    expect(reply, name).toMatchObject({ kind: 'signed' })
    expect(parsePublicKeyJwt(reply.text ?? '')?.payload.jwk, name).toEqual(
      publicJwk({ x: fromHex(x), y: fromHex(y) })
    )
  }
})

/** Runs in the page. Starts a worker, sends it the messages and returns its first answer. */
function askWorker({ url, messages }: { url: string; messages: unknown[] }) {
  return new Promise<{ kind: string; text?: string }>((resolve, reject) => {
    const worker = new Worker(url, { type: 'module' })
    const end = (settle: () => void) => {
      worker.terminate()
      settle()
    }
    worker.onmessage = event => end(() => resolve(event.data))
    worker.onerror = () => end(() => reject(new Error('the worker did not run')))
    for (const message of messages) worker.postMessage(message)
  })
}

function makeChallenge(email: string): string {
  const payload = { aud: 'localhost', eh: emailHash(email), n: 'A'.repeat(22), iat: 0, exp: 120 }
  return formatChallenge('signup', { ...payload, kdf: 'a1', mk: '1' }, () => new Uint8Array(32))
}
