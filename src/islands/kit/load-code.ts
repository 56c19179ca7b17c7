import { AppError } from '../../contract/kit/errors.ts'

/** Throws `offline` if the module cannot be loaded. */
export async function loadCode<Code>(load: () => Promise<Code>): Promise<Code> {
  try {
    return await load()
  } catch (cause) {
    throw new AppError('offline', 'Code of the page could not be loaded', { cause })
  }
}
