import { pageWords } from './page.ts'

const shownMs = 6000
const most = 3

export interface ToastAction {
  label: string
  run: () => void
}

/**
 * Shows a short message that disappears after a while. A message with an action stays until it is
 * dismissed.
 */
export function toast(text: string, action?: ToastAction): void {
  const region = document.getElementById('toasts')
  if (!region) return
  const t = pageWords()
  const box = document.createElement('div')
  box.className = 'toast-sheet'
  const words = document.createElement('p')
  words.textContent = text
  const close = button(t('shell.dismiss'), () => box.remove())
  close.className = 'toast-close'
  box.append(words, ...(action ? [button(action.label, action.run)] : []), close)
  while (region.childElementCount >= most) region.firstElementChild?.remove()
  region.append(box)
  uncoverFocus()
  document.addEventListener('focusin', uncoverFocus)
  if (!action) expire(box)
}

/**
 * Moves the messages to the other end of the window if they cover the focused element. If they also
 * cover it there, the window is too low, and they are removed.
 */
function uncoverFocus(cause?: FocusEvent): void {
  // the window scrolls to the focused element after the event
  requestAnimationFrame(() => {
    const region = document.getElementById('toasts')
    if (!region || !coversFocus(region)) return
    region.classList.toggle('toasts-above')
    if (!cause || !coversFocus(region)) return
    for (const box of [...region.children]) if (!box.querySelector('.toast-action')) box.remove()
  })
}

function coversFocus(region: HTMLElement): boolean {
  const focused = document.activeElement
  if (!focused || focused === document.body || region.contains(focused)) return false
  const theirs = focused.getBoundingClientRect()
  const ours = region.getBoundingClientRect()
  const isBeside = theirs.right < ours.left || theirs.left > ours.right
  const isApart = theirs.bottom < ours.top || theirs.top > ours.bottom
  return !isBeside && !isApart
}

/** Removes a message after a while, but not while it has the pointer or the focus. */
function expire(box: HTMLElement): void {
  let timer = setTimeout(() => box.remove(), shownMs)
  const hold = () => clearTimeout(timer)
  const release = () => {
    hold()
    timer = setTimeout(() => box.remove(), shownMs)
  }
  box.addEventListener('pointerenter', hold)
  box.addEventListener('pointerleave', release)
  box.addEventListener('focusin', hold)
  box.addEventListener('focusout', release)
}

function button(label: string, run: () => void): HTMLButtonElement {
  const element = document.createElement('button')
  element.type = 'button'
  element.className = 'toast-action'
  element.textContent = label
  element.addEventListener('click', run)
  return element
}
