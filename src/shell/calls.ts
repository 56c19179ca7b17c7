import { onPage } from './page.ts'

/** Gets what calls of the API need, once the page rests: the first click then waits for the server only. */
export function loadCallsAhead(): void {
  onPage(() => {
    if (!document.querySelector('astro-island')) return
    whenIdle(async () => {
      const { loadCalls } = await import('../stores/sessions.ts')
      await loadCalls().catch(() => {
        // the first call tries again, and says what is wrong
      })
    })
  })
}

function whenIdle(run: () => Promise<void>): void {
  // Safari has no idle callbacks
  if ('requestIdleCallback' in window) requestIdleCallback(() => void run())
  else setTimeout(run, 200)
}
