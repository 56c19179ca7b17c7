import { type ReactNode, useEffect, useId, useRef, useState } from 'react'

interface PopupProps {
  button: ReactNode
  className: string
  hasChosenValue?: boolean
  label: string
  children: (close: () => void) => ReactNode
}

// px from the button, and from the edges of the window
const gap = 4
const edge = 8

export function Popup({ button, className, hasChosenValue, label, children }: PopupProps) {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const box = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)

  // the browser may have opened it before the script of the page ran
  useEffect(() => setOpen(box.current?.matches(':popover-open') ?? false), [])

  useEffect(() => {
    if (!isOpen) return
    const { current: shown } = box
    const follow = () => place(shown, opener.current)
    follow()
    shown?.querySelector<HTMLElement>('input, select, button')?.focus()
    addEventListener('scroll', follow, { passive: true, capture: true })
    addEventListener('resize', follow)
    return () => {
      shown?.style.removeProperty('inset')
      removeEventListener('scroll', follow, { capture: true })
      removeEventListener('resize', follow)
    }
  }, [isOpen])

  return (
    <>
      <button
        ref={opener}
        type="button"
        className={className}
        data-set={hasChosenValue}
        aria-expanded={isOpen}
        aria-controls={id}
        popoverTarget={id}
      >
        {button}
      </button>
      <dialog
        ref={box}
        id={id}
        popover="auto"
        aria-label={label}
        className="popup"
        onToggle={event => setOpen(event.newState === 'open')}
        onBlur={({ currentTarget, relatedTarget }) => {
          if (relatedTarget && !currentTarget.contains(relatedTarget)) currentTarget.hidePopover()
        }}
      >
        {isOpen && children(() => box.current?.hidePopover())}
      </dialog>
    </>
  )
}

function place(box: HTMLElement | null, button: HTMLElement | null): void {
  if (!box || !button) return
  const at = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = box
  const below = at.bottom + gap
  const isAbove = below + height > innerHeight - edge && at.top > innerHeight / 2
  const left = Math.max(edge, Math.min(at.left, innerWidth - width - edge))
  const top = isAbove ? Math.max(edge, at.top - gap - height) : below
  box.style.setProperty('inset', `${top}px auto auto ${left}px`)
}
