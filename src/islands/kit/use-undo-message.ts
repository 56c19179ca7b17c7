import { asAppError } from '../../contract/kit/errors.ts'
import { showMessage } from './show-message.ts'
import { useTranslation } from './use-translation.ts'

/** If `undo` fails, a second message says why. */
export function useUndoMessage(
  buttonLabel: string
): (text: string, undo: () => Promise<void>) => void {
  const { t } = useTranslation()
  return (text, undo) => {
    const run = async () => {
      try {
        await undo()
      } catch (cause) {
        showMessage(t(`errors.${asAppError(cause, 'Undoing failed').code}`))
      }
    }
    showMessage(text, { label: buttonLabel, run: () => void run() })
  }
}
