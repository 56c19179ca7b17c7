import type { ReactNode } from 'react'

interface AccountSectionProps {
  id: string
  title: string
  note: string
  children: ReactNode
}

/** A section of the account page: a card with a title and a note. */
export function AccountSection({ id, title, note, children }: AccountSectionProps) {
  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby={id}>
      <div>
        <h2 id={id} className="section-title">
          {title}
        </h2>
        <p className="meta">{note}</p>
      </div>
      {children}
    </section>
  )
}
