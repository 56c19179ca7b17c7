interface ProgressProps {
  /** Says to screen readers what is in progress. */
  label: string
  /** From 0 to 1; absent while it is not known. */
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
