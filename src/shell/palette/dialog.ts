import { isOnBackdrop } from '../kit/confirm-dialog.ts'
import { paletteStyles } from './palette-styles.ts'

let hasStyles = false

/** The focus returns to where it was. `onClose` runs however the dialog is closed. */
export function openDialog(dialog: HTMLDialogElement, onClose: () => void): () => void {
  if (!hasStyles) adoptStyles()
  let isOpen = true
  const end = () => {
    if (!isOpen) return
    isOpen = false
    document.removeEventListener('astro:before-swap', end)
    dialog.close()
    dialog.remove()
    // what had the focus may be gone, such as a button in the drawer, which the dialog has closed
    if (document.activeElement === document.body)
      document.querySelector<HTMLElement>('.bar [data-act=palette]')?.focus()
    onClose()
  }
  document.addEventListener('astro:before-swap', end)
  dialog.addEventListener('close', end)
  dialog.addEventListener('pointerdown', event => {
    if (isOnBackdrop(dialog, event)) end()
  })
  document.body.append(dialog)
  dialog.showModal()
  return end
}

// pages lack these styles, because few visits need them
function adoptStyles(): void {
  hasStyles = true
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(paletteStyles)
  document.adoptedStyleSheets.push(sheet)
}
