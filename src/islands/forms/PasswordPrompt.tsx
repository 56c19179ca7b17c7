import { useStore } from '@nanostores/react'
import { $passwordPrompt } from '../../stores/confirmation.ts'
import { lazyComponent } from '../kit/LazyComponent.tsx'

const PasswordDialog = lazyComponent(
  async () => (await import('./PasswordDialog.tsx')).PasswordDialog
)

/**
 * Asks for the password again when a call requires it. Each island of the administration has one.
 */
export function PasswordPrompt() {
  const question = useStore($passwordPrompt, { ssr: 'initial' })
  return question ? <PasswordDialog answer={question.answer} /> : null
}
