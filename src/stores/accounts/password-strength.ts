import { guessableWords, type PasswordStrength } from '../../core/input/password.ts'
import { browserEnvironment } from '../environment.ts'

// a password that contains one of them is easy to guess
export interface PasswordOwner {
  email: string
  username: string
  company: string
}

export function ratePasswordStrength(
  password: string,
  owner: PasswordOwner
): Promise<PasswordStrength> {
  const { pageLocation, rateStrength } = browserEnvironment()
  return rateStrength(password, guessableWords({ ...owner, host: pageLocation().hostname }))
}
