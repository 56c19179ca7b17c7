import { useStore } from '@nanostores/react'
import { $passwordPrompt } from '../../stores/confirmation.ts'
import { lazyComponent } from '../kit/LazyComponent.tsx'

const PasswordDialog = lazyComponent(
  async () => (await import('./PasswordDialog.tsx')).PasswordDialog
)

/**
 * Asks for the password of the signed-in person, if the API requires it again before it carries out
 * a call. Each island of the administration contains this component.
 */
export function PasswordPrompt() {
  const question = useStore($passwordPrompt, { ssr: 'initial' })
  return question ? <PasswordDialog answer={question.answer} /> : null
}
