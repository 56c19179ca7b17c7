interface BusyButtonProps {
  label: string
  /** Name of the button for screen readers. If absent, they read the label. */
  name?: string | undefined
  isWorking: boolean
  isOff?: boolean | undefined
  /** Whether it is off until the page's script runs. `boot.js` then keeps a click for the script. */
  needsScript?: boolean
  /** CSS classes of the button. If absent, the button looks like the main button of a form. */
  look?: string | undefined
  describedBy?: string
  /** Runs on a click. Undefined if the button submits a form. */
  onClick?: () => void
}

/** A button that keeps its size and the focus while `isWorking`. */
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
