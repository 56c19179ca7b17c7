import { onThisAndLaterPages } from './kit/page.ts'

// in these windows the drawer covers the page and a swipe opens it
const overlay = matchMedia('(max-width: 959.98px)')
// from the edge of the screen
const edgePx = 25
const pullPx = 40

/** What a popover of the browser lacks: swipes, and closing when the focus leaves. */
export function startDrawerSwipe(): void {
  onThisAndLaterPages(closeWhenLeft)
  startSwipe()
  visualViewport?.addEventListener('resize', markZoom)
  onThisAndLaterPages(markZoom)
}

function closeWhenLeft(): void {
  const drawer = drawerOf()
  drawer?.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Element) || !isOpen(drawer)) return
    if (!drawer.contains(relatedTarget) && relatedTarget.id !== 'menu') drawer.hidePopover()
  })
}

function startSwipe(): void {
  let start: { id: number; x: number; y: number; opens: boolean } | undefined
  addEventListener('pointerdown', ({ pointerType, isPrimary, pointerId, clientX, clientY }) => {
    start = undefined
    const drawer = drawerOf()
    if (pointerType !== 'touch' || !isPrimary || !overlay.matches || !drawer) return
    const opens = !isOpen(drawer)
    if (opens && clientX > edgePx) return
    start = { id: pointerId, x: clientX, y: clientY, opens }
  })
  addEventListener('pointerup', ({ pointerId, clientX, clientY }) => {
    if (start?.id !== pointerId) return
    const { x, y, opens } = start
    const pulled = opens ? clientX - x : x - clientX
    if (pulled < pullPx || Math.abs(clientY - y) > pulled) return
    // the browser closes a popover that opens while the finger is down
    setTimeout(() => (opens ? open() : drawerOf()?.hidePopover()))
  })
  addEventListener('pointercancel', () => {
    start = undefined // the page was scrolled
  })
}

function open(): void {
  const source = document.getElementById('menu')
  drawerOf()?.showPopover(source ? { source } : {})
}

// a swipe then moves the page and must not open the drawer
function markZoom(): void {
  const isZoomed = (visualViewport?.scale ?? 1) > 1.01
  document.documentElement.toggleAttribute('data-zoomed', isZoomed)
}

function drawerOf(): HTMLElement | null {
  return document.getElementById('drawer')
}

function isOpen(drawer: Element): boolean {
  return drawer.matches(':popover-open')
}
