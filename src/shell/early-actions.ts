// the last action in each island whose script does not run yet
const waiting = new WeakMap<Element, () => void>()

/**
 * The actions are Enter in a form and a click on a button. They are repeated when the island's
 * script runs.
 */
export function recordAndReplayEarlyActions(): void {
  document.addEventListener('keydown', event => {
    const { key, target, isComposing } = event
    if (key !== 'Enter' || isComposing || !isSentByEnter(target)) return
    const { form } = target
    const island = target.closest('astro-island[ssr]')
    if (!form || !island) return
    // a form without a button would be sent by the browser
    event.preventDefault()
    wait(island, () => form.requestSubmit())
  })
  document.addEventListener('click', ({ target }) => {
    // the browser itself opens popovers
    const button =
      target instanceof Element ? target.closest('button:not([popovertarget])') : undefined
    // from then on React hydrates at a click, and handles it
    const island = button?.closest('astro-island[ssr]:not([data-hydrating])')
    if (island && button instanceof HTMLElement) wait(island, () => button.click())
  })
}

// in a text of several lines, Enter sends only where the keyboard of a phone says so
function isSentByEnter(
  target: EventTarget | null
): target is HTMLInputElement | HTMLTextAreaElement {
  return (
    target instanceof HTMLInputElement ||
    (target instanceof HTMLTextAreaElement && target.enterKeyHint === 'go')
  )
}

function wait(island: Element, act: () => void): void {
  if (!waiting.has(island))
    island.addEventListener('astro:hydrate', () => waiting.get(island)?.(), { once: true })
  waiting.set(island, act)
}
