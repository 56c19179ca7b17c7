import { useMemo } from 'react'
import { ErrorNote, type ErrorNoteProps } from '../kit/ErrorNote.tsx'
import { formatRetryTimeOfDay } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'

// a call refused after too many attempts says from what time the person can try again
export function FormErrorNote({ error, text, children }: ErrorNoteProps) {
  const { locale, t } = useTranslation()
  const until = useMemo(
    // a busy service also names a time, but then the reason is not too many attempts
    () => (error.code === 'rate_limited' ? formatRetryTimeOfDay(error, locale) : undefined),
    [error, locale]
  )
  return (
    <ErrorNote error={error} text={until ? t('account.tryAgainAt', { time: until }) : text}>
      {children}
    </ErrorNote>
  )
}
