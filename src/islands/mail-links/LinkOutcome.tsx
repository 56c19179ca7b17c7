import type { ReactNode } from 'react'

interface LinkOutcomeProps {
  text: string
  /** A link or button that lets the person continue. */
  children?: ReactNode
}

/** A card that states whether a mailed link worked and what to do next. */
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
