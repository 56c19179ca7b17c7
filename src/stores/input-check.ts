import { AppError, type FieldErrors } from '../contract/errors.ts'
import { type CallName, findEndpoint } from './sessions.ts'

/**
 * Loads the schema of a call, and returns the function that finds the errors of an input by field.
 */
export async function loadInputCheck(name: CallName): Promise<(input: unknown) => FieldErrors> {
  const endpoint = await findEndpoint(name)
  try {
    const { inputErrors } = await import('../contract/call.ts')
    return input => inputErrors(endpoint, input)
  } catch (cause) {
    throw new AppError('offline', 'The check of inputs could not be loaded', { cause })
  }
}
