interface BusyButtonProps {
  label: string
  /** Name for screen readers. */
  name?: string | undefined
  isWorking: boolean
  isOff?: boolean | undefined
  /** Off until the page's script runs. `boot.js` then keeps a press for the script. */
  needsScript?: boolean
  /** CSS classes of the button. */
  look?: string | undefined
  describedBy?: string
  /** Undefined if the button submits a form. */
  onClick?: () => void
}

/** Keeps its size and the focus while `isWorking`. */
export function BusyButton(props: BusyButtonProps) {
  const {
    label,
    name,
    isWorking,
    isOff = false,
    needsScript,
    look = 'btn-primary',
    describedBy,
    onClick
  } = props
  return (
    <button
      type={onClick ? 'button' : 'submit'}
      className={`btn ${look}`}
      disabled={isOff}
      data-needs-script={needsScript || undefined}
      aria-label={name}
      aria-disabled={isWorking}
      aria-describedby={describedBy}
      onClick={onClick}
    >
      {isWorking && <span className="loading loading-spinner loading-sm" aria-hidden="true" />}
      {label}
    </button>
  )
}
