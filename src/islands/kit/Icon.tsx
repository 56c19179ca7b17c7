const drawings = {
  alert: 'M12 8v5M12 16.5v.01',
  check: 'm8 12.2 2.8 2.8L16 9.4',
  chevron: 'm9 6 6 6-6 6',
  dashed: '',
  save: 'M12 4v11m0 0 4.5-4.5M12 15l-4.5-4.5M4 16v3a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-3'
}
type IconName = keyof typeof drawings

const circled: IconName[] = ['alert', 'check', 'dashed']

/** Screen readers skip it; a word beside it says the same. */
export function Icon({ name, className }: { name: IconName; className: string }) {
  return (
    <svg
      viewBox="0 0 24 24"
      aria-hidden="true"
      className={`shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {circled.includes(name) && (
        <circle
          cx="12"
          cy="12"
          r="10"
          strokeDasharray={name === 'dashed' ? '3.5 4.35' : undefined}
        />
      )}
      {drawings[name] && <path d={drawings[name]} />}
    </svg>
  )
}
