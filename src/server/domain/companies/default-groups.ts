import { AppError } from '../../../contract/kit/errors.ts'

/**
 * Runs a write to groups, categories or domains. Throws `default_group_private` if the write would
 * give a private category to everybody who signs up: in a company with public sign-up, the default
 * group may only use public categories. The database enforces this.
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
