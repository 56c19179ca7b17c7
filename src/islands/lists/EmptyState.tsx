import type { ReactNode } from 'react'

interface EmptyStateProps {
  title: string
  text?: string | undefined
  /** One button, and at most one link beside it. */
  children?: ReactNode
}

export function EmptyState({ title, text, children }: EmptyStateProps) {
  return (
    <section className="sheet flex flex-col items-center gap-4 py-12 text-center">
      <svg
        viewBox="0 0 240 72"
        aria-hidden="true"
        className="w-60 max-w-full text-line"
        fill="none"
        stroke="currentColor"
        strokeLinecap="round"
      >
        {[12, 36, 60].map(y => (
          <g key={y}>
            <circle cx="16" cy={y} r="8" strokeWidth="2.5" strokeDasharray="0.1 5" />
            <path d={`M40 ${y - 4}H${200 - y}M40 ${y + 5}H${120 - y / 2}`} strokeWidth="1" />
          </g>
        ))}
      </svg>
      <h2 className="verdict max-w-prose">{title}</h2>
      {text && <p className="max-w-prose text-ink-soft">{text}</p>}
      <div className="flex flex-wrap items-center justify-center gap-4">{children}</div>
    </section>
  )
}

export function NoMatches(props: EmptyStateProps) {
  return (
    <>
      <p role="status" className="sr-only">
        {props.title}
      </p>
      <EmptyState {...props} />
    </>
  )
}
