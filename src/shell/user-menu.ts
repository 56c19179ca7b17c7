import { onThisPageAndNext } from './kit/page.ts'

const openMs = 300
const closeMs = 250
/** Letters that follow within this time are one word. */
const typeAheadMs = 1000

const type = createTypeAhead()
/** Opened by the pointer resting on it, so it closes when the pointer leaves. */
let isHovered = false
let stopTimer: () => void = () => {}

/** The user menu: a popover by the browser, with the keys and the delays that a menu has. */
export function startUserMenu(): void {
  onThisPageAndNext(() => {
    const menu = find()
    if (!menu) return
    const { button, panel } = menu
    for (const part of [button, panel]) {
      part.addEventListener('pointerenter', event => {
        if (event.pointerType === 'mouse') plan(openMs, () => hover(button, panel))
      })
      part.addEventListener('pointerleave', () => plan(closeMs, () => leave(panel)))
    }
    button.addEventListener('click', event => pin(panel, event))
    button.addEventListener('keydown', event => openBy(event, button, panel))
    panel.addEventListener('toggle', () => told(button, panel))
    panel.addEventListener('keydown', event => move(panel, event))
    panel.addEventListener('focusout', ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !panel.contains(relatedTarget)) panel.hidePopover()
    })
  })
}

function find() {
  const button = document.getElementById('user')
  const panel = document.getElementById('user-menu')
  return button && panel ? { button, panel } : undefined
}

function plan(ms: number, run: () => void): void {
  stopTimer()
  const timer = setTimeout(run, ms)
  stopTimer = () => clearTimeout(timer)
}

function hover(source: HTMLElement, panel: HTMLElement): void {
  if (isOpen(panel)) return
  isHovered = true
  panel.showPopover({ source })
}

function leave(panel: HTMLElement): void {
  if (isHovered && isOpen(panel) && !panel.contains(document.activeElement)) panel.hidePopover()
}

/** A click opens at once, and keeps open what the pointer has opened. */
function pin(panel: HTMLElement, event: MouseEvent): void {
  stopTimer()
  if (!isHovered || !isOpen(panel)) return
  event.preventDefault()
  isHovered = false
  entriesOf(panel)[0]?.focus()
}

function openBy(event: KeyboardEvent, source: HTMLElement, panel: HTMLElement): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  stopTimer()
  isHovered = false
  if (!isOpen(panel)) panel.showPopover({ source })
  entriesOf(panel)
    .at(event.key === 'ArrowDown' ? 0 : -1)
    ?.focus()
}

function told(button: HTMLElement, panel: HTMLElement): void {
  button.setAttribute('aria-expanded', String(isOpen(panel)))
  if (!isOpen(panel)) isHovered = false
  // the pointer alone moves nobody's focus
  else if (!isHovered && !panel.contains(document.activeElement)) entriesOf(panel)[0]?.focus()
}

function move(panel: HTMLElement, event: KeyboardEvent): void {
  const entries = entriesOf(panel)
  const at = entries.findIndex(entry => entry.matches(':focus'))
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: entries.length - 1
  }
  const step = steps[event.key] ?? ahead(event, entries, at)
  if (step === undefined) return
  event.preventDefault()
  entries.at(step % entries.length)?.focus()
}

function ahead(event: KeyboardEvent, entries: HTMLElement[], at: number): number | undefined {
  const { key, timeStamp, ctrlKey, metaKey, altKey } = event
  if (key.length !== 1 || key === ' ' || ctrlKey || metaKey || altKey) return undefined
  const words = entries.map(entry => entry.textContent.trim())
  return findAhead(words, at, type(key, timeStamp))
}

/** Puts letters together, and begins anew after a pause. */
export function createTypeAhead(): (key: string, at: number) => string {
  let typed = ''
  let typedAt = 0
  return (key, at) => {
    typed = at - typedAt < typeAheadMs ? typed + key : key
    typedAt = at
    return typed
  }
}

/**
 * The entry that begins with what was typed, from the present one on; one letter typed again and again
 * goes from entry to entry.
 */
export function findAhead(words: string[], at: number, typed: string): number | undefined {
  const wanted = typed.toLocaleLowerCase()
  const isOneLetter = wanted === wanted.charAt(0).repeat(wanted.length)
  const start = isOneLetter ? wanted.charAt(0) : wanted
  const first = Math.max(0, isOneLetter ? at + 1 : at)
  const order = words.map((_, index) => (first + index) % words.length)
  return order.find(index => words[index]?.toLocaleLowerCase().startsWith(start))
}

function isOpen(panel: HTMLElement): boolean {
  return panel.matches(':popover-open')
}

function entriesOf(panel: HTMLElement): HTMLElement[] {
  return [...panel.querySelectorAll<HTMLElement>('[role=menuitem]')]
}
