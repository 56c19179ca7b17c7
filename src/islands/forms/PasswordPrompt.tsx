import { useStore } from '@nanostores/react'
import { $passwordPrompt } from '../../stores/confirmation.ts'
import { lazyComponent } from '../kit/LazyComponent.tsx'

const PasswordDialog = lazyComponent(
  async () => (await import('./PasswordDialog.tsx')).PasswordDialog
)

/**
 * Asks the signed-in person for the password again when an API call requires this. Each island of
 * the administration contains this component.
 */
export function PasswordPrompt() {
  const question = useStore($passwordPrompt, { ssr: 'initial' })
  return question ? <PasswordDialog answer={question.answer} /> : null
}
