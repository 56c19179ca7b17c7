import type { ReactNode } from 'react'
import type { AppError } from '../../contract/errors.ts'
import type { OpenedLink } from './use-mail-link.ts'

/** What became of a link that opens nothing any more; `undefined` for every other failure. */
export function linkStateFromError(error: AppError): 'used' | 'over' | undefined {
  if (error.code === 'mail_token_used') return 'used'
  return error.code === 'mail_token_invalid' ? 'over' : undefined
}

/** What has become of an opened link that opens nothing any more. */
export function closedLinkState(link: OpenedLink | 'none'): 'used' | 'over' | undefined {
  return link === 'none' || link.state === 'open' ? undefined : link.state
}

interface LinkOutcomeProps {
  text: string
  /** What to do now. */
  children?: ReactNode
}

/** A sheet that says how it went, and where it goes on. */
export function LinkOutcome({ text, children }: LinkOutcomeProps) {
  return (
    <section className="sheet flex flex-col items-start gap-4" data-state="ready">
      <p role="status" className="font-serif text-xl wrap-anywhere">
        {text}
      </p>
      {children}
    </section>
  )
}
