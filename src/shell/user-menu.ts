import { onThisAndLaterPages } from './kit/page.ts'

const openMs = 300
const closeMs = 250
// letters that follow each other as quickly as this form one word
const typeAheadMs = 1000

interface Menu {
  button: HTMLElement
  panel: HTMLElement
  typeAhead: ReturnType<typeof createTypeAhead>
  /** Whether the pointer opened the menu by resting on it. Such a menu closes when it leaves. */
  isHovered: boolean
  stopTimer: () => void
}

/**
 * The user menu is a browser popover, which lacks arrow keys, typed letters and opening on hover.
 */
export function startUserMenu(): void {
  onThisAndLaterPages(() => {
    const button = document.getElementById('user')
    const panel = document.getElementById('user-menu')
    if (!button || !panel) return
    const typeAhead = createTypeAhead()
    const menu: Menu = { button, panel, typeAhead, isHovered: false, stopTimer: () => {} }
    for (const part of [button, panel]) {
      part.addEventListener('pointerenter', event => {
        if (event.pointerType === 'mouse') plan(menu, openMs, hover)
      })
      part.addEventListener('pointerleave', () => plan(menu, closeMs, leave))
    }
    button.addEventListener('click', event => pin(menu, event))
    button.addEventListener('keydown', event => openByKey(menu, event))
    panel.addEventListener('toggle', () => onToggle(menu))
    panel.addEventListener('keydown', event => move(menu, event))
    panel.addEventListener('focusout', ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !panel.contains(relatedTarget)) panel.hidePopover()
    })
  })
}

function plan(menu: Menu, ms: number, run: (menu: Menu) => void): void {
  menu.stopTimer()
  const timer = setTimeout(run, ms, menu)
  menu.stopTimer = () => clearTimeout(timer)
}

function hover(menu: Menu): void {
  const { button: source, panel } = menu
  if (isOpen(panel)) return
  menu.isHovered = true
  panel.showPopover({ source })
}

function leave({ panel, isHovered }: Menu): void {
  if (isHovered && isOpen(panel) && !panel.contains(document.activeElement)) panel.hidePopover()
}

// a menu that a hover has opened stays open and gets the focus
function pin(menu: Menu, event: MouseEvent): void {
  const { panel } = menu
  menu.stopTimer()
  if (!menu.isHovered || !isOpen(panel)) return
  event.preventDefault()
  menu.isHovered = false
  entriesOf(panel)[0]?.focus()
}

function openByKey(menu: Menu, event: KeyboardEvent): void {
  const { button: source, panel } = menu
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  menu.stopTimer()
  menu.isHovered = false
  if (!isOpen(panel)) panel.showPopover({ source })
  entriesOf(panel)
    .at(event.key === 'ArrowDown' ? 0 : -1)
    ?.focus()
}

function onToggle(menu: Menu): void {
  const { button, panel } = menu
  button.setAttribute('aria-expanded', String(isOpen(panel)))
  if (!isOpen(panel)) menu.isHovered = false
  // a menu opened by the pointer must not move the focus
  else if (!menu.isHovered && !panel.contains(document.activeElement)) entriesOf(panel)[0]?.focus()
}

function move({ panel, typeAhead }: Menu, event: KeyboardEvent): void {
  const entries = entriesOf(panel)
  const at = entries.findIndex(entry => entry.matches(':focus'))
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: entries.length - 1
  }
  const step = steps[event.key] ?? entryAhead(event, entries, at, typeAhead)
  if (step === undefined) return
  event.preventDefault()
  entries.at(step % entries.length)?.focus()
}

function entryAhead(
  event: KeyboardEvent,
  entries: HTMLElement[],
  at: number,
  typeAhead: Menu['typeAhead']
): number | undefined {
  const { key, timeStamp, ctrlKey, metaKey, altKey } = event
  if (key.length !== 1 || key === ' ' || ctrlKey || metaKey || altKey) return undefined
  const words = entries.map(entry => entry.textContent.trim())
  return findTypeaheadMatch(words, at, typeAhead(key, timeStamp))
}

/** A pause starts a new word. */
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
 * Begins at the entry `at`; after it if one letter was typed, even several times, so that each
 * press moves on.
 */
export function findTypeaheadMatch(words: string[], at: number, typed: string): number | undefined {
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
