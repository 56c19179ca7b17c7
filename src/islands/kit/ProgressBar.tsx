interface ProgressProps {
  label: string
  /** From 0 to 1. Undefined while it is unknown. */
  ratio?: number | undefined
}

export function ProgressBar({ label, ratio }: ProgressProps) {
  const known = ratio === undefined ? {} : { value: Math.round(ratio * 1000) }
  return (
    <progress
      className="progress progress-secondary w-full"
      aria-label={label}
      max={1000}
      {...known}
    />
  )
}
