import type { FieldErrors } from '../../contract/kit/errors.ts'
import { minPasswordStrength, newPasswordFault } from '../../core/input/password.ts'
import { firstFaultOf, required, sameAs, type Validator } from '../../core/input/validators.ts'
import {
  type PasswordOwner,
  ratePasswordStrength
} from '../../stores/accounts/password-strength.ts'

/** `name` and `repeat` are the names of the fields, and `label` names the first in messages. */
export function newPasswordRules(
  name: string,
  label: string,
  ...more: Validator[]
): Record<string, Validator> {
  return {
    [name]: firstFaultOf(required, value => newPasswordFault(String(value)), ...more),
    repeat: firstFaultOf(required, sameAs(name, label))
  }
}

/** Leaves faults to `newPasswordRules()`. */
export async function weakPasswordErrors(
  name: string,
  password: string,
  owner: PasswordOwner
): Promise<FieldErrors | undefined> {
  if (!password || newPasswordFault(password)) return undefined
  const strength = await ratePasswordStrength(password, owner)
  return strength < minPasswordStrength ? { [name]: { rule: 'weak' } } : undefined
}
