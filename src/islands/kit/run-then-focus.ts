/**
 * Runs `work`, the action of the focused button, for example Retry. If the button has disappeared
 * afterwards, focuses the first field of `box`, unless the person has focused something else.
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
