import { lazyPart } from '../kit/LazyPart.tsx'

/** `NewPasswordForm`, loaded when a person opens the page with a link from an e-mail. */
export const LazyNewPasswordForm = lazyPart(
  async () => (await import('./NewPasswordForm.tsx')).NewPasswordForm
)
