interface BusyButtonProps {
  label: string
  isWorking: boolean
  isOff?: boolean
  /** Called on a click. Absent in a form, where the button submits. */
  onClick?: () => void
}

/** The main button of a sheet. It keeps its place and the focus while its work runs. */
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
