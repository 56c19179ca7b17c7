import { createElement } from './elements.ts'

export interface ConfirmOptions {
  text: string
  go: string
  stay: string
  /** Closes the dialog with the answer no, such as when uploads have ended. */
  until: Promise<void>
  /** Escape and a click outside leave the dialog open. Otherwise they mean no. */
  persistent?: boolean
}

export function confirmInDialog({
  text,
  go,
  stay,
  until,
  persistent = false
}: ConfirmOptions): Promise<boolean> {
  const dialog = createElement('dialog', { class: 'confirm-dialog', 'aria-label': text })
  const answers = [answer(dialog, stay, 'stay', 'btn'), answer(dialog, go, 'go', 'btn btn-outline')]
  dialog.append(
    createElement('p', {}, text),
    createElement('div', { class: 'confirm-dialog-buttons' }, ...answers)
  )
  document.body.append(dialog)
  dialog.addEventListener('keydown', event => {
    // does not use `cancel`, which browsers send only once without a click in between
    if (event.key !== 'Escape' || !persistent) return
    event.preventDefault()
    shake(dialog)
  })
  dialog.addEventListener('cancel', event => {
    if (!persistent) return
    event.preventDefault()
    shake(dialog)
  })
  dialog.addEventListener('pointerdown', event => {
    if (!isOnBackdrop(dialog, event)) return
    if (persistent) shake(dialog)
    else dialog.close('stay')
  })
  dialog.showModal()
  void until.then(() => dialog.close('stay'))
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      // the dialog has hidden an opener in a menu or drawer, so the opener cannot get the focus
      if (document.activeElement === document.body) document.getElementById('user')?.focus()
      resolve(dialog.returnValue === 'go')
    })
  })
}

// an outline for people who prefer reduced motion
function shake(dialog: HTMLDialogElement): void {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  dialog.animate(
    isStill
      ? { outline: ['2px solid currentcolor', '2px solid currentcolor'] }
      : { scale: ['1', '1.03', '1'] },
    { id: 'persistent', duration: 150, easing: 'cubic-bezier(0.2, 0, 0, 1)' }
  )
}

/** Whether a click was outside the dialog. */
export function isOnBackdrop(
  dialog: HTMLDialogElement,
  { clientX, clientY }: PointerEvent
): boolean {
  const { left, right, top, bottom } = dialog.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}

function answer(dialog: HTMLDialogElement, label: string, value: string, look: string) {
  const button = createElement('button', { type: 'button', class: look }, label)
  button.addEventListener('click', () => dialog.close(value))
  return button
}
