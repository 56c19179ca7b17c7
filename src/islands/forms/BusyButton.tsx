interface BusyButtonProps {
  label: string
  isWorking: boolean
  isOff?: boolean
  /** Absent in a form, which it sends. */
  onClick?: () => void
}

/** The one button of a sheet; it stays in place and keeps the focus while its work goes on. */
export function BusyButton({ label, isWorking, isOff = false, onClick }: BusyButtonProps) {
  return (
    <button
      type={onClick ? 'button' : 'submit'}
      className="btn btn-primary"
      disabled={isOff}
      aria-disabled={isWorking}
      onClick={onClick}
    >
      {isWorking && <span className="loading loading-spinner loading-sm" aria-hidden="true" />}
      {label}
    </button>
  )
}
