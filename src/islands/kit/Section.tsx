import type { ReactNode, Ref } from 'react'

interface SectionProps {
  /** Id of the heading. The note has this id with `-note`. */
  id: string
  title: string
  note?: ReactNode
  /** The heading gets the focus when a pressed button disappears. */
  ref?: Ref<HTMLHeadingElement>
  state?: string
  children: ReactNode
}

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
