/**
 * Runs the work of a button inside `box` that disappears if the work succeeds, such as Retry. Then
 * focuses the first field of the box, unless the person has moved the focus elsewhere meanwhile.
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
