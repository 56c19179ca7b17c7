import type { FieldErrors } from '../../contract/errors.ts'
import { minStrength, newPasswordFault } from '../../core/input/password.ts'
import { firstOf, required, sameAs, type Validator } from '../../core/input/validators.ts'
import { type PasswordOwner, strengthOf } from '../../stores/accounts/password-strength.ts'

/**
 * Returns the rules of a new password and its repetition. `label` is the label of the password
 * field.
 */
export function newPasswordRules(
  name: string,
  label: string,
  ...more: Validator[]
): Record<string, Validator> {
  return {
    [name]: firstOf(required, value => newPasswordFault(String(value)), ...more),
    repeat: firstOf(required, sameAs(name, label))
  }
}

/** Returns an error if a password that breaks no other rule is too easy to guess. */
export async function weaknessErrors(
  name: string,
  password: string,
  chooser: PasswordOwner
): Promise<FieldErrors | undefined> {
  if (!password || newPasswordFault(password)) return undefined
  const strength = await strengthOf(password, chooser)
  return strength < minStrength ? { [name]: { rule: 'weak' } } : undefined
}
