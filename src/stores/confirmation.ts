import { AppError } from '../contract/kit/errors.ts'
import { browserEnvironment } from './environment.ts'
import { personalAtom } from './personal-atoms.ts'
import { addSessionEndListener, api, type CallName, loadEndpoint } from './sessions.ts'
import { $user, fetchOwnAccount } from './signed-in-user.ts'

/** The open password dialog. It calls `answer` with false when the person cancels. */
export const $passwordPrompt = personalAtom<{ answer: (isConfirmed: boolean) => void } | undefined>(
  undefined
)

// less than the five minutes for which the server accepts a proof
const reliedOnMs = 4 * 60_000
const $confirmedUntil = personalAtom(0)

// calls that wait at the same time share one dialog
let asking: Promise<boolean> | undefined

addSessionEndListener(() => {
  $passwordPrompt.get()?.answer(false)
})

/**
 * Makes a call that needs the password, always or at times. Asks first if the server would refuse
 * it, and again after a refusal. Throws `confirmation_required` if the person cancels.
 */
export async function withPasswordConfirmation<Result>(
  name: CallName,
  run: () => Promise<Result>
): Promise<Result> {
  const { confirmation } = await loadEndpoint(name)
  if (confirmation && !(await isConfirmed()) && !(await askForPassword()))
    throw new AppError('confirmation_required', 'The person cancelled')
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'confirmation_required') throw error
    $confirmedUntil.set(0)
    if (!(await askForPassword())) throw error
    return run()
  }
}

/** The server accepts the proof for five minutes. */
export async function confirmPassword(password: string): Promise<void> {
  const { startSigningWorker, pageLocation } = browserEnvironment()
  const email = $user.get()?.email
  if (email === undefined) throw new AppError('unauthenticated', 'Nobody is signed in')
  const keys = await startSigningWorker(email, password)
  try {
    const { challenge } = await api('getChallenge', { email, purpose: 'confirm' })
    const challenge_response = await keys.respond(challenge, 'confirm', pageLocation().hostname)
    await api('confirmPassword', { challenge_response })
    rememberConfirmed()
  } finally {
    keys.close()
  }
}

// it may have been proved in another tab; if the server does not answer, the call itself says why
async function isConfirmed(): Promise<boolean> {
  if (browserEnvironment().now() < $confirmedUntil.get()) return true
  try {
    const { confirmed = false } = await fetchOwnAccount()
    if (confirmed) rememberConfirmed()
    return confirmed
  } catch (error) {
    if (error instanceof AppError) return true
    throw error
  }
}

function rememberConfirmed(): void {
  $confirmedUntil.set(browserEnvironment().now() + reliedOnMs)
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
