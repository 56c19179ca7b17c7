import { useEffect, useState } from 'react'
import { usernameFault } from '../../core/input/username.ts'
import { email, firstFaultOf, required, type Validator } from '../../core/input/validators.ts'
import { loadCode } from '../kit/load-code.ts'
import { showMessage } from '../kit/show-message.ts'

/** `isReady` is true when the page's script runs. `obstacle` keeps this browser from signing in. */
export function useBrowserReadiness(): {
  isReady: boolean
  obstacle: 'insecure' | 'cookies' | undefined
} {
  const [isReady, setReady] = useState(false)
  const [obstacle, setObstacle] = useState<'insecure' | 'cookies'>()
  useEffect(() => {
    setReady(true)
    if (!isSecureContext) setObstacle('insecure')
    else if (!navigator.cookieEnabled) setObstacle('cookies')
  }, [])
  return { isReady, obstacle }
}

export function prefillFromQuery(form: HTMLFormElement | null, names: readonly string[]): void {
  const query = new URLSearchParams(location.search)
  for (const name of names) {
    const input = form?.elements.namedItem(name)
    if (input instanceof HTMLInputElement && !input.value) input.value = query.get(name) ?? ''
  }
}

export const emailRule = firstFaultOf(required, email)

export const usernameRule: Validator = value => usernameFault(String(value ?? ''))

/**
 * Opens the page that follows a sign-in, in place of the form, so that Back does not lead to it.
 */
export async function continueAfterSignIn(successMessage?: string): Promise<void> {
  const [{ addressAfterSignIn }, { navigate }, { $user }] = await loadCode(() =>
    Promise.all([
      import('../../stores/accounts/after-sign-in.ts'),
      import('../../stores/navigation.ts'),
      import('../../stores/signed-in-user.ts')
    ])
  )
  await navigate(addressAfterSignIn(), { replace: true })
  // `successMessage` announces success, which needs a confirmed e-mail
  if (successMessage && !$user.get()?.pending) showMessage(successMessage)
}
