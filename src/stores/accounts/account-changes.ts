import type { LinkDelivery } from '../../contract/users.ts'
import { browserEnvironment } from '../environment.ts'
import { api, endSessionInBrowser } from '../sessions.ts'
import type { Credentials } from './accounts.ts'

export async function changePassword(
  input: Credentials & { next: string; keepsKeys: boolean }
): Promise<void> {
  const { email, password, next, keepsKeys } = input
  const proofs = await proveBoth({ email, password }, { email, password: next }, 'rekey')
  await api('changePassword', { ...proofs, ...(keepsKeys && { keep_api_keys: true }) })
}

// the key is derived from e-mail and password, so a new one is sent, too
export async function requestEmailChange(
  input: Credentials & { next: string }
): Promise<LinkDelivery> {
  const { email, password, next } = input
  const proofs = await proveBoth({ email, password }, { email: next, password }, 'email')
  const { delivery } = await api('requestEmailChange', { email: next, ...proofs })
  return delivery ?? 'mail'
}

/** `company` is the company's name, which its only administrator has typed. */
export async function deleteOwnAccount({
  email,
  password,
  company
}: Credentials & { company: string | undefined }): Promise<void> {
  const { startSigningWorker, pageLocation } = browserEnvironment()
  const keys = await startSigningWorker(email, password)
  try {
    const purpose = 'rekey'
    const { challenge } = await api('getChallenge', { email, purpose })
    const challenge_response = await keys.respond(challenge, purpose, pageLocation().hostname)
    await api('deleteOwnAccount', { challenge_response, ...(company && { company }) })
  } finally {
    keys.close()
  }
  await endSessionInBrowser()
}

async function proveBoth(
  present: Credentials,
  next: Credentials,
  purpose: 'rekey' | 'email'
): Promise<{ challenge_response: string; public_key_jwt: string }> {
  const { startSigningWorker, pageLocation } = browserEnvironment()
  const presentKeys = await startSigningWorker(present.email, present.password)
  try {
    const nextKeys = await startSigningWorker(next.email, next.password)
    try {
      const aud = pageLocation().hostname
      const { email } = present
      const { challenge } = await api('getChallenge', { email, purpose: 'rekey' })
      const [challenge_response, public_key_jwt] = await Promise.all([
        presentKeys.respond(challenge, 'rekey', aud),
        nextKeys.publicKeyJwt({ challenge, aud, purpose, present: email })
      ])
      return { challenge_response, public_key_jwt }
    } finally {
      nextKeys.close()
    }
  } finally {
    presentKeys.close()
  }
}
