interface MeterProps {
  label: string
  words: string
  /** The used fraction of the limit. Undefined without a limit. */
  share?: number | undefined
}

export function Meter({ label, words, share }: MeterProps) {
  return (
    <div className="flex flex-col gap-1">
      <p className="label-text">{label}</p>
      <p className="tabular">{words}</p>
      {share !== undefined && (
        <progress
          className={`progress w-full ${share >= 0.9 ? 'progress-warning' : 'progress-secondary'}`}
          aria-label={label}
          aria-valuetext={words}
          max={1000}
          value={Math.round(share * 1000)}
        />
      )}
    </div>
  )
}

/** 1 for a limit of 0, undefined without a limit. */
export function usedFraction(used: number, limit: number | null): number | undefined {
  if (limit === null) return undefined
  return limit === 0 ? 1 : Math.min(1, used / limit)
}
