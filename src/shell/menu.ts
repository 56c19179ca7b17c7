/** The user menu: a popover by the browser, with the keys that a menu has. */
export function startMenu(): void {
  document.addEventListener(
    'toggle',
    event => {
      const panel = event.target
      if (!(panel instanceof HTMLElement) || panel.id !== 'user-menu') return
      const isOpen = panel.matches(':popover-open')
      document.getElementById('user')?.setAttribute('aria-expanded', String(isOpen))
      if (isOpen) entriesOf(panel)[0]?.focus()
    },
    { capture: true } // toggle events do not bubble
  )
  document.addEventListener('keydown', event => {
    const panel = event.target instanceof Element ? event.target.closest('#user-menu') : undefined
    if (panel) move(panel, event)
  })
}

function move(panel: Element, event: KeyboardEvent): void {
  const entries = entriesOf(panel)
  const at = entries.findIndex(entry => entry.matches(':focus'))
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: entries.length - 1
  }
  const step = steps[event.key]
  if (step === undefined) return
  event.preventDefault()
  entries.at(step % entries.length)?.focus()
}

function entriesOf(panel: Element): HTMLElement[] {
  return [...panel.querySelectorAll<HTMLElement>('[role=menuitem]')]
}
