import { useStore } from '@nanostores/react'
import { useId } from 'react'
import { $registerImportMode } from '../../stores/imports/register-imports.ts'
import { useTranslation } from '../kit/use-translation.ts'

/** Whether the file is the whole list or has rows to add. `version` is the current one. */
export function RegisterMode({ version }: { version: number }) {
  const { t } = useTranslation()
  const id = useId()
  const mode = useStore($registerImportMode, { ssr: 'initial' })
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 font-semibold">{t('registerImports.mode.title')}</legend>
      {(['replace', 'append'] as const).map(value => (
        <label key={value} className="flex min-h-8 items-start gap-3">
          <input
            type="radio"
            className="radio"
            name={id}
            checked={mode === value}
            aria-labelledby={`${id}-${value}`}
            aria-describedby={`${id}-${value}-note`}
            onChange={() => $registerImportMode.set(value)}
          />
          <span className="flex min-w-0 flex-col">
            <span id={`${id}-${value}`}>{t(`registerImports.mode.${value}`)}</span>
            <span id={`${id}-${value}-note`} className="text-ink-soft text-sm">
              {t(`registerImports.mode.${value}Note`, { version })}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
