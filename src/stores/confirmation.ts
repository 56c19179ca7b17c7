import { AppError } from '../contract/kit/errors.ts'
import { browserEnvironment } from './environment.ts'
import { personalAtom } from './personal-atoms.ts'
import { addSessionEndListener, api, type CallName, loadEndpoint } from './sessions.ts'
import { $user } from './signed-in-user.ts'

/**
 * The open dialog that asks for the password, or undefined. The dialog calls `answer` with true
 * when the password is confirmed, and with false when the person cancels.
 */
export const $passwordPrompt = personalAtom<{ answer: (isConfirmed: boolean) => void } | undefined>(
  undefined
)

/**
 * The answer of the open password dialog, or undefined if none is open. All calls of
 * `askForPassword` that wait at the same time share one dialog and its answer.
 */
let asking: Promise<boolean> | undefined

/** The server accepts a proof for five minutes; a call takes a moment to arrive. */
const proofMs = 290_000
/** Until when the server accepts the last proof of this tab, in milliseconds since the epoch. */
let provenUntil = 0

addSessionEndListener(() => {
  provenUntil = 0
  $passwordPrompt.get()?.answer(false)
})

/**
 * Makes a call with `run`. If the server requires the password again, asks the person for it and
 * runs `run` a second time. For a call that always requires it, which `name` tells, asks first, so
 * that nothing is sent that is known to be refused. Throws `confirmation_required` if the person
 * cancels.
 */
export async function withPasswordConfirmation<Result>(
  run: () => Promise<Result>,
  name?: CallName
): Promise<Result> {
  const isNeeded = name && (await loadEndpoint(name)).confirmation
  if (isNeeded && browserEnvironment().now() > provenUntil && !(await askForPassword()))
    throw new AppError('confirmation_required', 'The person cancelled')
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'confirmation_required') throw error
    if (!(await askForPassword())) throw error
    return run()
  }
}

/**
 * Proves to the server that the person knows their password. The server accepts the proof for five
 * minutes.
 */
export async function confirmPassword(password: string): Promise<void> {
  const { startSigningWorker, pageLocation } = browserEnvironment()
  const email = $user.get()?.email
  if (email === undefined) throw new AppError('unauthenticated', 'Nobody is signed in')
  const keys = await startSigningWorker(email, password)
  try {
    const { challenge } = await api('getChallenge', { email, purpose: 'confirm' })
    const challenge_response = await keys.respond(challenge, 'confirm', pageLocation().hostname)
    await api('confirmPassword', { challenge_response })
    provenUntil = browserEnvironment().now() + proofMs
  } finally {
    keys.close()
  }
}

async function askForPassword(): Promise<boolean> {
  // nothing on this page listens to the store, so no dialog would open
  if ($passwordPrompt.lc === 0) return false
  asking ??= new Promise(resolve => {
    $passwordPrompt.set({
      answer(isConfirmed) {
        asking = undefined
        $passwordPrompt.set(undefined)
        resolve(isConfirmed)
      }
    })
  })
  return asking
}
