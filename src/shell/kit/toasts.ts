import { createElement } from './elements.ts'
import { isSignedIn, shellTranslator } from './page.ts'

const shownMs = 6000
const undoMs = 10_000
const most = 3

export interface ToastAction {
  label: string
  run: () => void
}

/** For six seconds; with `action`, until the person closes it. */
export function showToast(text: string, action?: ToastAction): void {
  const box = show(text, action)
  if (box && !action) expire(box, shownMs)
}

/**
 * For six seconds, or ten with a button that runs `undo`. Such a message also disappears on
 * sign-out.
 */
export function showIslandMessage({
  text,
  undo
}: DocumentEventMap['vidimus:news']['detail']): void {
  if (!undo) {
    showToast(text)
    return
  }
  const box = show(text, {
    label: undo.label,
    run() {
      box?.remove()
      undo.run()
    }
  })
  if (!box) return
  box.dataset['undo'] = ''
  expire(box, undoMs)
  document.addEventListener('vidimus:changed', removeUndo)
}

function removeUndo(): void {
  if (isSignedIn()) return
  for (const box of document.querySelectorAll('#toasts [data-undo]')) box.remove()
}

function show(text: string, action?: ToastAction): HTMLElement | undefined {
  const region = document.getElementById('toasts')
  if (!region) return undefined
  const t = shellTranslator()
  const box = createElement('div', { class: 'toast-sheet' }, createElement('p', {}, text))
  if (action) box.append(button('toast-action', action.label, action.run))
  box.append(button('toast-close', t('shell.dismiss'), () => box.remove()))
  while (region.childElementCount >= most) region.firstElementChild?.remove()
  region.append(box)
  uncoverFocus()
  document.addEventListener('focusin', uncoverFocus)
  return box
}

// to the other end of the window if they cover the focused element; if also there, those without an
// action go
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

// not while the message has the pointer or the focus
function expire(box: HTMLElement, afterMs: number): void {
  let timer = setTimeout(() => box.remove(), afterMs)
  const hold = () => clearTimeout(timer)
  const release = () => {
    hold()
    timer = setTimeout(() => box.remove(), afterMs)
  }
  box.addEventListener('pointerenter', hold)
  box.addEventListener('pointerleave', release)
  box.addEventListener('focusin', hold)
  box.addEventListener('focusout', release)
}

function button(look: string, label: string, run: () => void): HTMLButtonElement {
  const element = createElement('button', { type: 'button', class: look }, label)
  element.addEventListener('click', run)
  return element
}
