import type { ReactNode } from 'react'
import { localizedPath } from '../../i18n/index.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface LinkOutcomeProps {
  text: string
  next?: { path: string; text: string } | undefined
  children?: ReactNode
}

export function LinkOutcome({ text, next, children }: LinkOutcomeProps) {
  const { locale } = useTranslation()
  return (
    <section className="sheet flex flex-col items-start gap-4" data-state="ready">
      <p role="status" className="font-serif text-xl wrap-anywhere">
        {text}
      </p>
      {children}
      {next && (
        <a className="btn btn-primary" href={localizedPath(locale, next.path)}>
          {next.text}
        </a>
      )}
    </section>
  )
}
