import { AppError } from '../../../contract/errors.ts'

/**
 * Runs what writes groups, categories or domains. Throws `default_group_private` where the default group,
 * which public sign-ups join, would then allow a category that is not public: the database refuses that.
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
