import { AppError } from '../../../contract/kit/errors.ts'

/**
 * Throws `default_group_private` if the database refuses that `write` gives a private category to
 * everybody who signs up.
 */
export async function withDefaultGroupError<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    const { code, constraint } = Object(cause)
    if (code !== '23514' || constraint !== 'default_group_public') throw cause
    const detail =
      'The default group of a company with public sign-up allows public categories only'
    throw new AppError('default_group_private', detail, { cause })
  }
}
