import type { ReactNode } from 'react'
import { Field } from '../forms/Field.tsx'
import { InPlaceEditor, InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { useForm } from '../forms/use-form.ts'
import { Section } from '../kit/Section.tsx'
import { type DeletionOptions, useDeletionActionOptions } from './use-deletion.ts'

type Word = 'title' | 'open' | 'label' | 'submit' | 'cancel'

interface DeleteWithTypedConfirmationProps extends DeletionOptions {
  words: (key: Word, values?: { typed: string }) => string
  note: string
  /** The text that the person must type to confirm. Case does not matter. */
  typed: string
  /** Otherwise only the note is shown. */
  isOffered: boolean
  children?: ReactNode
}

export function DeleteWithTypedConfirmation(props: DeleteWithTypedConfirmationProps) {
  const { words, note, isOffered, children } = props
  return (
    <Section id="delete-item" title={words('title')} note={note}>
      {children}
      {isOffered && (
        <InPlaceEditor label={words('open')}>
          {close => <DeleteForm {...props} close={close} />}
        </InPlaceEditor>
      )}
    </Section>
  )
}

function DeleteForm(props: DeleteWithTypedConfirmationProps & { close: () => void }) {
  const { words, typed, close } = props
  const form = useForm({
    ...useDeletionActionOptions(props),
    rules: {
      typed: value =>
        String(value ?? '')
          .trim()
          .toLowerCase() === typed.toLowerCase()
          ? undefined
          : { rule: 'same_as', limit: typed }
    }
  })
  return (
    <InPlaceForm
      form={form}
      submit={words('submit')}
      look="btn-error"
      className="max-w-lg gap-4"
      cancel={words('cancel')}
      close={close}
    >
      <Field
        label={words('label', { typed })}
        name="typed"
        autoComplete="off"
        spellCheck={false}
        mono
      />
    </InPlaceForm>
  )
}
