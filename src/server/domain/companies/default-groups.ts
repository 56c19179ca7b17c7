import { AppError } from '../../../contract/kit/errors.ts'

/**
 * Runs a write to groups, categories or domains. Throws `default_group_private` if afterwards
 * everybody could sign up to a company and use a private category, because the default group, which
 * they join, allows it. The database refuses such a write.
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
