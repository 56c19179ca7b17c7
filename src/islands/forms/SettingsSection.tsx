import { type ReactNode, useRef, useState } from 'react'
import type { CallName } from '../../stores/sessions.ts'
import { Section } from '../kit/Section.tsx'
import { type DifferenceFormatters, EditConflict } from './EditConflict.tsx'
import { InPlaceEditor, InPlaceForm } from './InPlaceEditor.tsx'
import { UnsavedGuard } from './UnsavedGuard.tsx'
import { type FormOptions, type FormValues, useForm } from './use-form.ts'
import { useInputCheck } from './use-input-check.ts'
import { useVersionedSave, type VersionedSaveOptions } from './use-versioned-save.ts'

interface SettingsSectionProps<Item>
  extends DifferenceFormatters,
    VersionedSaveOptions<Item, Partial<Item>>,
    Pick<FormOptions<void>, 'what' | 'rules' | 'codeErrors'> {
  id: string
  title: string
  item: Item
  /** The call that saves, whose schema checks the form. */
  call: CallName
  words: (key: 'edit' | 'save' | 'cancel') => string
  isLocked?: boolean
  shown: ReactNode
  className: string
  /** `was` is the item as it was when the form was opened. */
  fields: (was: Item) => ReactNode
  read: (values: FormValues, was: Item) => Partial<Item>
  children?: ReactNode
}

/**
 * The settings of an item, changed in place. The page must pass the translations `forms` to the
 * island.
 */
export function SettingsSection<Item extends { id: string; version: number }>(
  props: SettingsSectionProps<Item>
) {
  const { id, title, save, load, words, isLocked = false, shown, labelOf, wordsOf } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const versioned = useVersionedSave({ save, load })
  return (
    <>
      <EditConflict versioned={versioned} title={heading} {...{ labelOf, wordsOf }} />
      <Section id={id} ref={heading} title={title}>
        <InPlaceEditor
          label={words('edit')}
          shown={shown}
          isLocked={isLocked || versioned.conflict !== undefined}
        >
          {close => <SettingsForm {...props} change={versioned.change} close={close} />}
        </InPlaceEditor>
        {props.children}
      </Section>
    </>
  )
}

interface SettingsFormProps<Item> extends SettingsSectionProps<Item> {
  change: (was: Item, changes: Partial<Item>) => Promise<void>
  close: () => void
}

function SettingsForm<Item extends { id: string }>(props: SettingsFormProps<Item>) {
  const { what, rules = {}, codeErrors = {}, className, words, fields, close } = props
  // the item may change while the form is open
  const [was] = useState(props.item)
  const check = useInputCheck(props.call)
  const form = useForm({
    ...{ what, rules, codeErrors },
    inputErrors: values => check({ ...props.read(values, was), id: was.id }),
    async send(values) {
      await props.change(was, props.read(values, was))
      close()
    }
  })
  return (
    <>
      <InPlaceForm {...{ form, className, close }} submit={words('save')} cancel={words('cancel')}>
        {fields(was)}
      </InPlaceForm>
      <UnsavedGuard form={form} />
    </>
  )
}
