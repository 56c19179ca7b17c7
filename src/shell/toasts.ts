import { pageWords } from './page.ts'

const shownMs = 6000
const most = 3

export interface ToastAction {
  label: string
  run: () => void
}

/** Reports, never asks. One with an action stays until it is dismissed. */
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
  if (!action) expire(box)
}

/** Waits while the person reads: the pointer is on it, or the focus. */
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
