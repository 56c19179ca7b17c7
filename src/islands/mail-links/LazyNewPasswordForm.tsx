import { lazyComponent } from '../kit/LazyComponent.tsx'

export const LazyNewPasswordForm = lazyComponent(
  async () => (await import('./NewPasswordForm.tsx')).NewPasswordForm
)
