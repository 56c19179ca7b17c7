import { useEffect, useId, useState } from 'react'
import type { ColorCorrection } from '../../core/theme/theme-colors.ts'
import type { Translate } from '../../i18n/index.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface ColorFieldProps {
  label: string
  /** Undefined for the standard color. */
  color: string | undefined
  standard: string
  /** The colors that pages show where `color` would be hard to read. */
  corrections: readonly ColorCorrection[]
  onChange: (color: string | undefined) => void
}

export function ColorField({ label, color, standard, corrections, onChange }: ColorFieldProps) {
  const { t } = useTranslation()
  const id = useId()
  const [text, setText] = useState(color ?? '')
  const isWrong = text.trim() !== '' && readColor(text) === undefined
  useEffect(() => {
    // what is typed stays as it is while it means the same color
    setText(typed => (readColor(typed) === color ? typed : (color ?? '')))
  }, [color])
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="label-text">
        {label}
      </label>
      <div className="flex items-center gap-2">
        <input
          type="color"
          className="h-10 w-14 shrink-0 cursor-pointer rounded-field border border-(--line) bg-base-100 p-1"
          aria-label={t('domains.look.pick', { color: label })}
          value={color ?? standard}
          onChange={event => onChange(event.currentTarget.value)}
        />
        <input
          id={id}
          type="text"
          className={`input w-full min-w-0 font-mono ${isWrong ? 'border-error' : ''}`}
          value={text}
          placeholder={standard}
          autoComplete="off"
          spellCheck={false}
          maxLength={9}
          aria-invalid={isWrong}
          aria-describedby={`${id}-notes`}
          onChange={event => {
            const typed = event.currentTarget.value
            setText(typed)
            const read = readColor(typed)
            if (read !== undefined) onChange(read)
            else if (typed.trim() === '') onChange(undefined)
          }}
        />
        {color !== undefined && (
          <button
            type="button"
            className="btn btn-ghost btn-sm shrink-0"
            aria-label={t('domains.look.resetNamed', { color: label })}
            onClick={() => onChange(undefined)}
          >
            {t('domains.look.reset')}
          </button>
        )}
      </div>
      <div id={`${id}-notes`} className="flex flex-col gap-0.5 text-sm empty:hidden">
        {isWrong && <p className="text-error">{t('domains.look.wrongColor')}</p>}
        {corrections.map(correction => (
          <p key={correction.mode} className="text-ink-soft">
            {correctionWords(correction, t)}
          </p>
        ))}
      </div>
    </div>
  )
}

function correctionWords({ colour, mode, original, used }: ColorCorrection, t: Translate): string {
  const isSurface = colour === 'background' || colour === 'surface'
  return t(`domains.look.corrected.${isSurface ? 'surface' : mode}`, { given: original, used })
}

// `F70` → `#ff7700`
function readColor(text: string): string | undefined {
  const [, digits = ''] = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim()) ?? []
  if (digits === '') return undefined
  const full = digits.length === 3 ? [...digits].map(digit => digit + digit).join('') : digits
  return `#${full.toLowerCase()}`
}
