import { lazyPart } from '../kit/LazyPart.tsx'

/** `NewPasswordForm`, loaded when somebody comes with a link. */
export const LazyNewPasswordForm = lazyPart(
  async () => (await import('./NewPasswordForm.tsx')).NewPasswordForm
)
