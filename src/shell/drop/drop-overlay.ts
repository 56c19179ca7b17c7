import { createElement } from '../kit/elements.ts'
import { isOnPage, isSignedIn, shellTranslator } from '../kit/page.ts'
import {
  companyIdOfUsersPage,
  type DropAction,
  dropActionOf,
  dropTargetSelector,
  dropZoneSelector
} from './drop-actions.ts'

interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

// a drop between a zone and the targets beside it does nothing
const gap = 16
const smallestSide = 96

/**
 * To be called again after scrolling. An action of the page's own drop zones is not offered again.
 */
export function showDropTargets(highlightedTarget: HTMLElement | undefined): void {
  drawTargets()
  const { dragging } = document.documentElement.dataset
  mark(
    highlightedTarget ??
      document.querySelector<HTMLElement>(`[data-drop-zone='${dragging}']`) ??
      undefined
  )
}

export function hideDropTargets(): void {
  if (document.documentElement.dataset['dragging'] === undefined) return
  delete document.documentElement.dataset['dragging']
  mark(undefined)
  overlay()?.remove()
}

function drawTargets(): void {
  const shown = [...document.querySelectorAll<HTMLElement>(dropZoneSelector)].flatMap(zone => {
    label(zone)
    const box = visibleBox(zone)
    const action = dropActionOf(zone)
    return box && action ? [{ ...box, action }] : []
  })
  const offered = targets().filter(name => !shown.some(({ action }) => action === name))
  // where the page's own zone does all there is to do, the whole page is that zone
  const [only] = offered.length === 0 ? shown : []
  document.documentElement.dataset['dragging'] = only?.action ?? ''
  if (only) {
    overlay()?.remove()
    return
  }
  const strip = largestFreeStrip(shown, { width: innerWidth, height: innerHeight })
  if (!strip) {
    overlay()?.remove()
    return
  }
  const box = overlay() ?? open(offered)
  const { left, top, right, bottom } = strip
  const inset = [top, innerWidth - right, innerHeight - bottom, left]
  const sides = inset.map(length => `${length}px`).join(' ')
  // one target is the whole page but for the zones, and its words stand where most room is
  box.toggleAttribute('data-whole', offered.length === 1)
  box.style.setProperty('inset', offered.length === 1 ? '0' : sides)
  box.style.setProperty('clip-path', offered.length === 1 ? outside(shown) : 'none')
  box.style.setProperty('--words', sides)
}

function mayDeposit(): boolean {
  const { can = '' } = document.documentElement.dataset
  return isSignedIn() && can.split(' ').includes('deposit')
}

function label(zone: HTMLElement): void {
  const name = dropActionOf(zone)
  if (!name || zone.dataset['says'] !== undefined) return
  const t = shellTranslator()
  zone.dataset['says'] = t(`shell.drop.${name}`)
  zone.dataset['hint'] = t(`shell.drop.${name}Hint`)
}

function open(offered: readonly DropAction[]): HTMLElement {
  const t = shellTranslator()
  const parts = offered.map(name => {
    const title = createElement('p', {}, t(`shell.drop.${name}`))
    const hint = createElement('p', {}, t(`shell.drop.${name}Hint`))
    return createElement('div', { 'data-target': name }, title, hint)
  })
  // for a pointer that drags files; other people use the file inputs of the pages
  const box = createElement('div', { id: 'drop-overlay', 'aria-hidden': 'true' }, ...parts)
  document.body.append(box)
  return box
}

function targets(): DropAction[] {
  if (companyIdOfUsersPage() !== undefined) return ['import']
  return mayDeposit() && !isOnPage('verify') ? ['deposit', 'verify'] : ['verify']
}

// the window without the boxes and the gap around them, as a CSS shape
function outside(boxes: readonly Box[]): string {
  const holes = boxes.map(({ left, top, right, bottom }) => {
    return `M${left - gap} ${top - gap}H${right + gap}V${bottom + gap}H${left - gap}Z`
  })
  return `path(evenodd, "M0 0H${innerWidth}V${innerHeight}H0Z${holes.join('')}")`
}

function overlay(): HTMLElement | null {
  return document.getElementById('drop-overlay')
}

function mark(highlightedTarget: HTMLElement | undefined): void {
  for (const target of document.querySelectorAll(dropTargetSelector)) {
    target.toggleAttribute('data-over', target === highlightedTarget)
  }
}

function visibleBox(zone: HTMLElement): Box | undefined {
  const { left, top, right, bottom } = zone.getBoundingClientRect()
  const isSeen = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
  return isSeen && right > left && bottom > top ? { left, top, right, bottom } : undefined
}

// undefined if each strip around the zones is too small to drop a file on
function largestFreeStrip(
  taken: readonly Box[],
  { width, height }: { width: number; height: number }
): Box | undefined {
  const whole = { left: 0, top: 0, right: width, bottom: height }
  if (taken.length === 0) return whole
  const strips: Box[] = [
    { ...whole, bottom: Math.min(...taken.map(({ top }) => top)) - gap },
    { ...whole, top: Math.max(...taken.map(({ bottom }) => bottom)) + gap },
    { ...whole, right: Math.min(...taken.map(({ left }) => left)) - gap },
    { ...whole, left: Math.max(...taken.map(({ right }) => right)) + gap }
  ]
  const sides = ({ left, top, right, bottom }: Box) => [right - left, bottom - top] as const
  const usable = strips.filter(strip => Math.min(...sides(strip)) >= smallestSide)
  const area = (strip: Box) => sides(strip)[0] * sides(strip)[1]
  return usable.toSorted((a, b) => area(b) - area(a))[0]
}
