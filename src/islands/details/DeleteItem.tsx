import { ConfirmButton } from '../forms/ConfirmButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Section } from '../kit/Section.tsx'
import { useAction } from '../kit/use-action.ts'
import { type DeletionOptions, useDeletionActionOptions } from './use-deletion.ts'

type Word = 'title' | 'note' | 'open' | 'question' | 'yes' | 'no' | 'inUse'

interface DeleteItemProps<Use extends string> extends DeletionOptions {
  name: string
  words: (key: Word, values?: Record<string, string>) => string
  /** The kinds of things that may still use the item, in the order of the error message. */
  uses: readonly Use[]
  /** `3 members` */
  usesWords: (use: Use, count: number) => string
}

export function DeleteItem<Use extends string>(props: DeleteItemProps<Use>) {
  const { name, words, uses, usesWords } = props
  const action = useAction(useDeletionActionOptions(props))
  const found = action.failure?.uses
  const named = uses.flatMap(use => (found?.[use] ? [usesWords(use, found[use])] : []))
  return (
    <Section id="delete-item" title={words('title')} note={words('note')}>
      {action.failure && (
        <ErrorNote error={action.failure}>
          {found && <p>{words('inUse', { uses: named.join(', ') })}</p>}
        </ErrorNote>
      )}
      <ConfirmButton
        label={words('open')}
        look="btn-outline self-start"
        question={words('question', { name })}
        yes={words('yes')}
        no={words('no')}
        action={action}
      />
    </Section>
  )
}
