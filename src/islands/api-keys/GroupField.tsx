import { useRef, useState } from 'react'
import { findGroups } from '../../stores/admin/item-search.ts'
import { findDefaultGroup, type NamedGroup } from '../../stores/admin/members.ts'
import { Combobox } from '../forms/Combobox.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { focusAfter } from '../kit/focus-after.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useWords } from '../kit/use-words.ts'
import { apiKeyTranslator } from './api-key-translator.ts'

interface GroupFieldProps {
  name: string
  /** Error message of the field, if it has an error. */
  error: string | undefined
}

/**
 * A field for the group of a company's key. Shows the chosen group, at first the company's default
 * group, and finds others by name. `parseGroupField()` reads its value in the form.
 */
export function GroupField({ name, error }: GroupFieldProps) {
  const { locale } = useWords()
  const say = apiKeyTranslator(locale)
  const [chosen, setGroup] = useState<NamedGroup>()
  const preset = useLoaded({ what: 'Loading the default group failed', load: findDefaultGroup })
  const group = chosen ?? preset.value
  const box = useRef<HTMLFieldSetElement>(null)
  const search = async (text: string) => {
    const found = await findGroups(text)
    return found.map(({ id, name: label }) => ({ item: { id, name: label }, id, label }))
  }
  return (
    <fieldset ref={box} className="flex flex-col gap-1.5">
      <legend className="label-text mb-1.5">{say('group')}</legend>
      <p role="status" className="wrap-anywhere font-semibold empty:hidden">
        {group?.name}
      </p>
      {preset.failure && !group && (
        <ErrorNote error={preset.failure} retry={() => focusAfter(box.current, preset.reload)} />
      )}
      <Combobox
        label={say('findGroup')}
        hint={say('groupHint')}
        error={error}
        name={name}
        // with the group's name, which a draft has to show again
        value={group ? `${group.id} ${group.name}` : ''}
        restore={value => setGroup(parseGroupField(value))}
        search={search}
        choose={setGroup}
      />
    </fieldset>
  )
}

/**
 * Parses the value of a `GroupField`: an id, a blank and a name. Returns undefined if no group is
 * chosen.
 */
export function parseGroupField(value = ''): NamedGroup | undefined {
  const at = value.indexOf(' ')
  return at < 0 ? undefined : { id: value.slice(0, at), name: value.slice(at + 1) }
}
