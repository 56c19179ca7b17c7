interface BusyButtonProps {
  label: string
  isWorking: boolean
  isOff?: boolean
  /** Runs on a click. Undefined in a form, which the button submits. */
  onClick?: () => void
}

/** The main button of a form or sheet. It keeps its size and the focus while `isWorking`. */
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
