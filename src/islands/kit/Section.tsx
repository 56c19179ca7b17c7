import type { ReactNode, Ref } from 'react'

interface SectionProps {
  /** Id of the heading element. */
  id: string
  title: string
  note?: string | undefined
  /** Reference to the heading, which gets the focus when a pressed button disappears. */
  ref?: Ref<HTMLHeadingElement>
  children: ReactNode
}

/** Card with a heading and a note. */
export function Section({ id, title, note, ref, children }: SectionProps) {
  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby={id}>
      <div>
        <h2 id={id} ref={ref} tabIndex={-1} className="section-title">
          {title}
        </h2>
        {note && <p className="meta">{note}</p>}
      </div>
      {children}
    </section>
  )
}
