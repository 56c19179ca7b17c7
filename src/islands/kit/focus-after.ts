/**
 * Runs `work` for a button inside `box`, such as Retry. If the button then disappears, focuses the
 * first field of `box`, unless the person has focused something else.
 */
export async function focusAfter(box: HTMLElement | null, work: () => unknown): Promise<void> {
  const button = document.activeElement
  await work()
  // after React has drawn
  setTimeout(() => {
    if (button?.isConnected || document.activeElement !== document.body) return
    box?.querySelector<HTMLElement>('input:not([type=hidden]), select')?.focus()
  })
}
