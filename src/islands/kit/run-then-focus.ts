/**
 * Runs the action of the focused button. If the button has gone, focuses the first field of `box`.
 */
export async function runThenFocus(box: HTMLElement | null, work: () => unknown): Promise<void> {
  const button = document.activeElement
  await work()
  // after React has drawn
  setTimeout(() => {
    if (button?.isConnected || document.activeElement !== document.body) return
    box?.querySelector<HTMLElement>('input:not([type=hidden]), select')?.focus()
  })
}
