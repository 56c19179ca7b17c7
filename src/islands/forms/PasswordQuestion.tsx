import { useStore } from '@nanostores/react'
import { $passwordQuestion } from '../../stores/confirmation.ts'
import { lazyComponent } from '../kit/LazyComponent.tsx'

const PasswordDialog = lazyComponent(
  async () => (await import('./PasswordDialog.tsx')).PasswordDialog
)

/**
 * Asks signed-in people for their password when the API requires it again for a call. Each island
 * of the administration contains this component.
 */
export function PasswordQuestion() {
  const question = useStore($passwordQuestion, { ssr: 'initial' })
  return question ? <PasswordDialog answer={question.answer} /> : null
}
