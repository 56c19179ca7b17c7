import { guessableWords, type Strength } from '../../core/input/password.ts'
import { environment } from '../environment.ts'

/** Who chooses a password: their own words are the first that others try. */
export interface Chooser {
  email: string
  username: string
  company: string
}

/** How hard a password of this person is to guess, judged on this device. */
export function strengthOf(password: string, chooser: Chooser): Promise<Strength> {
  const { place, rateStrength } = environment()
  return rateStrength(password, guessableWords({ ...chooser, host: place().hostname }))
}
