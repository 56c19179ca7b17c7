import { asAppError } from '../../contract/kit/errors.ts'
import type { UndoFunction } from '../../stores/admin/members.ts'
import { announce } from '../kit/announce.ts'
import { useWords } from '../kit/use-words.ts'

/**
 * Returns a function that shows a message about what was done, with a button that undoes it. If
 * undoing fails, a second message says why.
 */
export function useUndo(): (text: string, undo: UndoFunction) => void {
  const { t } = useWords()
  return (text, undo) => {
    const run = async () => {
      try {
        await undo()
      } catch (cause) {
        announce(t(`errors.${asAppError(cause, 'Undoing failed').code}`))
      }
    }
    announce(text, { label: t('person.access.undo'), run: () => void run() })
  }
}
