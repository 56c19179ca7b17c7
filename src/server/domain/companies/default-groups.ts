import { AppError } from '../../../contract/errors.ts'

/**
 * Runs a write of groups, categories or domains. Throws `default_group_private` where the default
 * group would allow a category that is not public although public sign-ups join that group. The
 * database refuses it.
 */
export async function withDefaultGroupCheck<T>(write: () => Promise<T>): Promise<T> {
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
