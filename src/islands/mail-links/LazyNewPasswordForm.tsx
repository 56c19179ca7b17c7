import { lazyComponent } from '../kit/LazyComponent.tsx'

/** `NewPasswordForm`, loaded when a person opens the page with a link from an e-mail. */
export const LazyNewPasswordForm = lazyComponent(
  async () => (await import('./NewPasswordForm.tsx')).NewPasswordForm
)
