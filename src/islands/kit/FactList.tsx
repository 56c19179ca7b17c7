import type { ReactNode } from 'react'

interface FactListProps {
  facts: readonly { label: string; value: ReactNode; note?: string | undefined }[]
}

export function FactList({ facts }: FactListProps) {
  return (
    <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[minmax(9rem,auto)_1fr]">
      {facts.map(({ label, value, note }) => (
        <div key={label} className="sm:contents">
          <dt className="text-ink-soft">{label}</dt>
          <dd className="wrap-anywhere min-w-0">
            {value}
            {note && <span className="block text-ink-soft text-sm">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
