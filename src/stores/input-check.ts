import { AppError, type FieldErrors } from '../contract/kit/errors.ts'
import { type CallName, loadEndpoint } from './sessions.ts'

/**
 * Loads the schema of the API call `name`. Returns a function that checks an input for this call
 * and returns the errors by field name.
 */
export async function loadInputCheck(name: CallName): Promise<(input: unknown) => FieldErrors> {
  const endpoint = await loadEndpoint(name)
  try {
    const { inputErrors } = await import('../contract/kit/call.ts')
    return input => inputErrors(endpoint, input)
  } catch (cause) {
    throw new AppError('offline', 'The check of inputs could not be loaded', { cause })
  }
}
