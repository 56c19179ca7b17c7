import type { FieldErrors } from '../../contract/kit/errors.ts'
import { minStrength, newPasswordFault } from '../../core/input/password.ts'
import { firstFaultOf, required, sameAs, type Validator } from '../../core/input/validators.ts'
import {
  type PasswordOwner,
  ratePasswordStrength
} from '../../stores/accounts/password-strength.ts'

/**
 * Returns the rules of two fields: of the field `name`, for a new password, and of the field
 * `repeat`, in which people type it again. Error messages use `label`, the label of
 * the password field. `more` are further rules for the password.
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
 * Returns an error of the field `name` if the password is too easy to guess. Returns undefined if
 * it is strong enough, and if it breaks another rule, which reports its own error.
 */
export async function weakPasswordErrors(
  name: string,
  password: string,
  owner: PasswordOwner
): Promise<FieldErrors | undefined> {
  if (!password || newPasswordFault(password)) return undefined
  const strength = await ratePasswordStrength(password, owner)
  return strength < minStrength ? { [name]: { rule: 'weak' } } : undefined
}
