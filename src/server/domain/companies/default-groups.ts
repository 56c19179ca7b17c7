import { AppError } from '../../../contract/errors.ts'

/**
 * Runs a write to groups, categories or domains. Everybody who signs up joins the default group, so
 * the database refuses a default group that allows a private category. Throws
 * `default_group_private` in this case.
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
