import { guessableWords, type PasswordStrength } from '../../core/input/password.ts'
import { browserEnvironment } from '../environment.ts'

/**
 * E-mail, name and company of the person who chooses a password. A password that contains one of
 * them is easy to guess.
 */
export interface PasswordOwner {
  email: string
  username: string
  company: string
}

/** Returns how hard the password is to guess, computed on this device. */
export function ratePasswordStrength(
  password: string,
  owner: PasswordOwner
): Promise<PasswordStrength> {
  const { pageLocation, rateStrength } = browserEnvironment()
  return rateStrength(password, guessableWords({ ...owner, host: pageLocation().hostname }))
}
