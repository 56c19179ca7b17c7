import { onClick, onThisAndLaterPages } from './kit/page.ts'
import { showToast } from './kit/toasts.ts'

export function startCopyingExamples(): void {
  onClick('[data-copy]', button => void copy(button))
  // without this script the buttons would do nothing, so the page hides them
  onThisAndLaterPages(() => {
    for (const button of document.querySelectorAll<HTMLElement>('[data-copy]'))
      button.hidden = false
  })
}

async function copy(button: HTMLElement): Promise<void> {
  const { copied = '', refused = '' } = button.dataset
  const text = button.closest('figure')?.querySelector('pre')?.textContent ?? ''
  try {
    await navigator.clipboard.writeText(text)
    showToast(copied)
  } catch {
    showToast(refused)
  }
}
