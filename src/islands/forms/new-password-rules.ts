import type { FieldErrors } from '../../contract/kit/errors.ts'
import { minPasswordStrength, newPasswordFault } from '../../core/input/password.ts'
import { firstFaultOf, required, sameAs, type Validator } from '../../core/input/validators.ts'
import {
  type PasswordOwner,
  ratePasswordStrength
} from '../../stores/accounts/password-strength.ts'

/**
 * Returns the rules for two fields: the new password, and `repeat`, in which the person types the
 * password again. `name` is the name of the password field. `label` is the label of that field in
 * error messages. `more` are further rules for the password.
 */
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

/**
 * Returns the error `weak` for the field `name` if the password is too easy to guess. Otherwise
 * returns undefined. Also returns undefined for an empty or invalid password, because
 * `newPasswordRules()` returns the error for it.
 */
export async function weakPasswordErrors(
  name: string,
  password: string,
  owner: PasswordOwner
): Promise<FieldErrors | undefined> {
  if (!password || newPasswordFault(password)) return undefined
  const strength = await ratePasswordStrength(password, owner)
  return strength < minPasswordStrength ? { [name]: { rule: 'weak' } } : undefined
}
