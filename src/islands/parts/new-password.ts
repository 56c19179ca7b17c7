import type { FieldErrors } from '../../contract/errors.ts'
import { minStrength, newPasswordFault } from '../../core/password.ts'
import { type Chooser, strengthOf } from '../../stores/passwords.ts'

/** What can be said at once of a chosen password and its repetition, under the names of their fields. */
export function newPasswordErrors(
  name: string,
  { [name]: password = '', repeat = '' }: Record<string, string>
): FieldErrors {
  const fault = password ? newPasswordFault(password) : { rule: 'required' }
  const isSame = repeat !== '' && repeat === password
  return {
    ...(fault ? { [name]: fault } : {}),
    ...(isSame ? {} : { repeat: { rule: repeat ? 'same' : 'required' } })
  }
}

/** What only the judge in its worker can say of it. */
export async function weaknessErrors(
  name: string,
  password: string,
  chooser: Chooser
): Promise<FieldErrors | undefined> {
  const strength = await strengthOf(password, chooser)
  return strength < minStrength ? { [name]: { rule: 'weak' } } : undefined
}
