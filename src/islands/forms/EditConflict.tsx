import { type RefObject, type SyntheticEvent, useEffect, useId, useRef, useState } from 'react'
import type { Difference } from '../../core/differences.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { LazyFormErrorNote } from './LazyFormErrorNote.tsx'
import { UnsavedGuard } from './UnsavedGuard.tsx'

export interface DifferenceFormatters {
  wordsOf: (name: string, value: unknown) => string
}

interface EditConflictProps extends DifferenceFormatters {
  versioned: {
    conflict: { theirs: { version: number }; differences: readonly Difference[] } | undefined
    resolve: (mine: readonly string[]) => Promise<void>
  }
  /** The heading that gets the focus when the conflict is resolved. */
  title?: RefObject<HTMLElement | null>
}

/**
 * Lets the person choose, field by field, between their changes and those of somebody else. The
 * page must pass the translations `forms` to the island.
 */
export function EditConflict({ versioned, title, ...words }: EditConflictProps) {
  const { conflict, resolve } = versioned
  if (!conflict) return null
  return (
    <DifferenceForm
      key={conflict.theirs.version}
      {...words}
      differences={conflict.differences}
      resolve={async mine => {
        await resolve(mine)
        // the buttons that were pressed are gone
        title?.current?.focus()
      }}
    />
  )
}

interface DifferenceFormProps extends DifferenceFormatters {
  differences: readonly Difference[]
  resolve: (mine: readonly string[]) => Promise<void>
}

function DifferenceForm({ differences, wordsOf, resolve }: DifferenceFormProps) {
  const { locale, t } = useTranslation()
  const id = useId()
  const title = useRef<HTMLHeadingElement>(null)
  const [mine, setMine] = useState(() =>
    differences.filter(({ changedBy }) => changedBy !== 'them').map(({ name }) => name)
  )
  const action = useAction({ what: 'Saving the chosen fields failed', send: resolve })
  const all = differences.map(({ name }) => name)

  useEffect(() => title.current?.focus(), [])

  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    void action.start(mine)
  }
  return (
    <form
      noValidate
      method="post"
      className="alert alert-warning alert-outline flex flex-col items-stretch gap-4"
      aria-labelledby={id}
      data-state="changed"
      onSubmit={submit}
    >
      <div>
        <h2 id={id} ref={title} tabIndex={-1} className="font-semibold text-base-content">
          {t('forms.changed.title')}
        </h2>
        <p className="text-base-content">{t('forms.changed.text')}</p>
      </div>
      {differences.map(difference => {
        const { name } = difference
        const options = { mine: true, theirs: false } as const
        return (
          <fieldset key={name} className="flex flex-col gap-1 text-base-content" data-field={name}>
            <legend className="label-text">{fieldLabel(name, locale)}</legend>
            {(['mine', 'theirs'] as const).map(whose => (
              <label key={whose} className="flex min-h-8 items-center gap-3">
                <input
                  type="radio"
                  name={`${id} ${name}`}
                  className="radio"
                  checked={mine.includes(name) === options[whose]}
                  onChange={() =>
                    setMine(chosen => [
                      ...chosen.filter(each => each !== name),
                      ...(options[whose] ? [name] : [])
                    ])
                  }
                />
                <span className="wrap-anywhere">
                  <span className="text-ink-soft">{t(`forms.changed.${whose}`)}</span>{' '}
                  {wordsOf(name, difference[whose]) || t('forms.changed.empty')}
                </span>
              </label>
            ))}
          </fieldset>
        )
      })}
      {action.failure && <LazyFormErrorNote error={action.failure} />}
      <div className="flex flex-wrap gap-3">
        <button type="submit" className="btn btn-primary" aria-disabled={action.isWorking}>
          {t('forms.changed.save')}
        </button>
        <button type="button" className="btn btn-outline" onClick={() => void action.start(all)}>
          {t('forms.changed.keepMine')}
        </button>
        <button type="button" className="btn btn-outline" onClick={() => void action.start([])}>
          {t('forms.changed.takeTheirs')}
        </button>
      </div>
      <UnsavedGuard isUnsaved />
    </form>
  )
}
