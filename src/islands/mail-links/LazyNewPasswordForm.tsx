import { lazyPart } from '../kit/LazyPart.tsx'

/** `NewPasswordForm`, loaded when a person opens the page through a mailed link. */
export const LazyNewPasswordForm = lazyPart(
  async () => (await import('./NewPasswordForm.tsx')).NewPasswordForm
)
