import { useRef } from 'react'
import { findGroups } from '../../stores/admin/item-search.ts'
import { findDefaultGroup } from '../../stores/admin/members.ts'
import { NamedItemPicker } from '../forms/NamedItemPicker.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { runThenFocus } from '../kit/run-then-focus.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { apiKeyTranslator } from './api-key-translator.ts'

interface GroupFieldProps {
  name: string
  error: string | undefined
}

export function GroupField({ name, error }: GroupFieldProps) {
  const { locale } = useTranslation()
  const say = apiKeyTranslator(locale)
  const preset = useLoaded('Loading the default group failed', findDefaultGroup)
  const box = useRef<HTMLDivElement>(null)
  return (
    <div ref={box}>
      <NamedItemPicker
        legend={say('group')}
        label={say('findGroup')}
        hint={say('groupHint')}
        {...{ name, error }}
        preset={preset.value}
        find={findGroups}
      >
        {preset.failure && (
          <ErrorNote
            error={preset.failure}
            retry={() => runThenFocus(box.current, preset.reload)}
          />
        )}
      </NamedItemPicker>
    </div>
  )
}
