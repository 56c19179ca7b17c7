import type { ReactNode } from 'react'

interface RefusalListProps {
  title: string
  refused: readonly { id: string; name: string; reason: string | undefined }[]
  children?: ReactNode
}

export function RefusalList({ title, refused, children }: RefusalListProps) {
  return (
    <div className="alert alert-error alert-outline flex flex-col items-start gap-1">
      <p>{title}</p>
      <ul className="list-disc ps-5">
        {refused.map(({ id, name, reason }) => (
          <li key={id} className="wrap-anywhere">
            {name} – {reason}
          </li>
        ))}
      </ul>
      {children}
    </div>
  )
}
