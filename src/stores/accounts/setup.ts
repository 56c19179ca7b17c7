import { atom } from 'nanostores'
import { AppError } from '../../contract/kit/errors.ts'
import type { Locale } from '../../i18n/index.ts'
import { browserEnvironment } from '../environment.ts'
import { createCallRetrier } from '../retries.ts'
import { api } from '../sessions.ts'
import { registerKeyAndSignIn } from './accounts.ts'

export interface DemoCompany {
  address: string
  // its password is public
  account?: { email: string; password: string } | undefined
}

export type SetupState =
  | { status: 'loading' }
  | { status: 'open'; company: string; demo: DemoCompany | undefined }
  /**
   * An operator exists already, or the host does not belong to the company that runs the
   * installation.
   */
  | { status: 'over' }
  | { status: 'failed'; error: AppError }

export const $setup = atom<SetupState>({ status: 'loading' })

export async function loadSetup(): Promise<void> {
  $setup.set({ status: 'loading' })
  try {
    // a server that has just started may be busy
    const { company, demo } = await createCallRetrier(browserEnvironment()).run(() =>
      api('getSetup', {})
    )
    $setup.set({ status: 'open', company, demo })
  } catch (cause) {
    $setup.set(failureOf(cause))
  }
}

interface FirstOperator {
  code: string
  email: string
  username: string
  password: string
  company: string
  demo: 'keep' | 'remove'
  locale: Locale
}

/** Returns what happened to the demonstration. It is also `kept` if removing it failed. */
export async function finishSetup(input: FirstOperator): Promise<'none' | 'kept' | 'removed'> {
  const { password, ...operator } = input
  const key = { email: input.email, password, purpose: 'signup' } as const
  const made = await registerKeyAndSignIn(key, public_key_jwt =>
    api('createFirstOperator', { ...operator, public_key_jwt })
  )
  return made.demo
}

function failureOf(cause: unknown): SetupState {
  if (!(cause instanceof AppError)) throw cause
  return cause.code === 'not_found' ? { status: 'over' } : { status: 'failed', error: cause }
}
