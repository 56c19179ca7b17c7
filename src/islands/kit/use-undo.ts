import { asAppError } from '../../contract/kit/errors.ts'
import { showMessage } from './show-message.ts'
import { useWords } from './use-words.ts'

/**
 * Returns a function that shows a message about what was done, with a button that undoes it. `label`
 * is the text of the button. If undoing fails, a second message says why.
 */
export function useUndo(label: string): (text: string, undo: () => Promise<void>) => void {
  const { t } = useWords()
  return (text, undo) => {
    const run = async () => {
      try {
        await undo()
      } catch (cause) {
        showMessage(t(`errors.${asAppError(cause, 'Undoing failed').code}`))
      }
    }
    showMessage(text, { label, run: () => void run() })
  }
}
