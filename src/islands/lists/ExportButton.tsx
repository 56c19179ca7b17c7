import { useState } from 'react'
import { AppError } from '../../contract/kit/errors.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface ExportButtonProps {
  /** Downloads all rows that match, also those that are not loaded. */
  save: () => Promise<void>
  /** Text of a second, quieter button. */
  label?: string
  className?: string
}

export function ExportButton({ save, label, className = '' }: ExportButtonProps) {
  const { t } = useTranslation()
  const [state, setState] = useState<'idle' | 'busy' | 'saved' | AppError>('idle')
  const start = async () => {
    if (state === 'busy') return
    setState('busy')
    try {
      await save()
      setState('saved')
    } catch (cause) {
      // calls fail with an `AppError`, so anything else is code that could not be loaded
      setState(
        cause instanceof AppError ? cause : new AppError('offline', 'The export failed', { cause })
      )
    }
  }
  return (
    <>
      <button
        type="button"
        className={`btn ${label ? 'btn-ghost text-secondary' : 'btn-outline'} ${className}`}
        aria-disabled={state === 'busy'}
        onClick={() => void start()}
      >
        {label ?? t('lists.export.save')}
      </button>
      <span role="status" className="text-ink-soft text-sm empty:hidden">
        {state === 'busy' && t('lists.export.working')}
        {state === 'saved' && t('lists.export.saved')}
      </span>
      {state instanceof AppError && (
        <div className="basis-full">
          <ErrorNote error={state} />
        </div>
      )}
    </>
  )
}
