import { AppError, type FieldErrors } from '../contract/kit/errors.ts'
import { type CallName, loadEndpoint } from './sessions.ts'

/** Returns a function that checks an input for the call and returns the errors by field name. */
export async function loadInputCheck(name: CallName): Promise<(input: unknown) => FieldErrors> {
  const endpoint = await loadEndpoint(name)
  try {
    const { inputErrors } = await import('../contract/kit/call.ts')
    return input => inputErrors(endpoint, input)
  } catch (cause) {
    throw new AppError('offline', 'The check of inputs could not be loaded', { cause })
  }
}
