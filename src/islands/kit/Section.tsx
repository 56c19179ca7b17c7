import type { ReactNode, Ref } from 'react'

interface SectionProps {
  /** Id of the heading element. */
  id: string
  title: string
  note?: ReactNode
  /**
   * Ref of the heading, so that the parent can focus the heading when a pressed button disappears.
   */
  ref?: Ref<HTMLHeadingElement>
  /** State of the content, such as `loading` or `ready`. */
  state?: string
  children: ReactNode
}

/**
 * Draws a card with a heading and a note. The id of the note is the id of the heading followed by
 * `-note`.
 */
export function Section({ id, title, note, ref, state, children }: SectionProps) {
  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby={id} data-state={state}>
      <div>
        <h2 id={id} ref={ref} tabIndex={-1} className="section-title">
          {title}
        </h2>
        {note && (
          <p id={`${id}-note`} className="meta">
            {note}
          </p>
        )}
      </div>
      {children}
    </section>
  )
}
