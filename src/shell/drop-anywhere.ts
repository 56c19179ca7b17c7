import { localizedPath } from '../i18n/index.ts'
import { filesOf } from './dropped-files.ts'
import { pageLocale, pageWords } from './page.ts'

type Target = 'deposit' | 'verify'

interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

const zones = '[data-drop-zone]'
/** Between a zone and what is offered beside it: a drop there is nobody's. */
const gap = 16
const smallestSide = 96

/**
 * Files may be dropped and pasted on every page. A visible zone of the page takes what is dropped on it;
 * the overlay offers its targets beside it and never covers it.
 */
export function startDropAnywhere(): void {
  addEventListener('dragenter', offer)
  addEventListener('dragover', offer)
  addEventListener('dragleave', event => {
    if (event.relatedTarget === null) close()
  })
  addEventListener('drop', event => {
    const target = targetOf(event)
    close()
    if (!carriesFiles(event) || !event.dataTransfer) return
    event.preventDefault()
    const to = target && nameOf(target)
    if (to) void hand(to, event.dataTransfer)
  })
  // an end outside of the window, or by Escape, is told in no other way
  addEventListener('dragend', close)
  addEventListener('pointermove', close)
  addEventListener('paste', event => {
    const { clipboardData } = event
    if (!clipboardData || clipboardData.files.length === 0 || event.defaultPrevented) return
    event.preventDefault()
    void hand(isOn('deposit') ? 'deposit' : 'verify', clipboardData)
  })
}

function offer(event: DragEvent): void {
  if (!carriesFiles(event)) return
  event.preventDefault()
  show()
  const target = targetOf(event)
  mark(target)
  if (event.dataTransfer) event.dataTransfer.dropEffect = target ? 'copy' : 'none'
}

async function hand(to: Target, transfer: DataTransfer): Promise<void> {
  const [{ files, unreadable, leftOut, names, handles }, offers, { navigate }] = await Promise.all([
    filesOf(transfer),
    import('../stores/offers.ts'),
    import('../stores/navigation.ts')
  ])
  for (const [file, handle] of handles) offers.keepHandle(file, handle)
  for (const [file, name] of names) offers.keepName(file, name)
  if (files.length + unreadable.length + leftOut === 0) return
  offers.offerFiles({ to, files, unreadable, leftOut })
  if (!isOn(to)) await navigate(localizedPath(pageLocale(), `/${to}`))
}

function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') === true
}

function isOn(page: Target): boolean {
  return location.pathname.replace(/\/$/, '').endsWith(`/${page}`)
}

function mayDeposit(): boolean {
  const { session, can = '' } = document.documentElement.dataset
  return session === 'in' && can.split(' ').includes('deposit')
}

/** Shows what a drop does, and where; the page may have scrolled since the last time. */
function show(): void {
  const shown = [...document.querySelectorAll<HTMLElement>(zones)].flatMap(zone => {
    label(zone)
    const box = visibleBox(zone)
    return box ? [box] : []
  })
  document.documentElement.dataset['dragging'] = ''
  const room = roomBeside(shown, { width: innerWidth, height: innerHeight })
  if (!room) {
    overlay()?.remove()
    return
  }
  const box = overlay() ?? open()
  const { left, top, right, bottom } = room
  const inset = [top, innerWidth - right, innerHeight - bottom, left]
  box.style.setProperty('inset', inset.map(length => `${length}px`).join(' '))
}

function label(zone: HTMLElement): void {
  if (zone.dataset['says'] !== undefined) return
  const t = pageWords()
  zone.dataset['says'] = t(`shell.drop.${nameOf(zone)}`)
  zone.dataset['hint'] = t(`shell.drop.${nameOf(zone)}Hint`)
}

function open(): HTMLElement {
  const t = pageWords()
  const box = document.createElement('div')
  box.id = 'drop-overlay'
  // for a pointer that holds files; others have the fields of the pages
  box.setAttribute('aria-hidden', 'true')
  const targets: Target[] = mayDeposit() && !isOn('verify') ? ['deposit', 'verify'] : ['verify']
  for (const name of targets) {
    const target = document.createElement('div')
    target.dataset['target'] = name
    const title = document.createElement('p')
    title.textContent = t(`shell.drop.${name}`)
    const hint = document.createElement('p')
    hint.textContent = t(`shell.drop.${name}Hint`)
    target.append(title, hint)
    box.append(target)
  }
  document.body.append(box)
  return box
}

function close(): void {
  if (document.documentElement.dataset['dragging'] === undefined) return
  delete document.documentElement.dataset['dragging']
  mark(undefined)
  overlay()?.remove()
}

function overlay(): HTMLElement | null {
  return document.getElementById('drop-overlay')
}

/** The zone or the target of the overlay that the pointer is over; Firefox names the text in it. */
function targetOf({ target }: Event): HTMLElement | undefined {
  const element =
    target instanceof Element ? target : target instanceof Node ? target.parentElement : null
  const found = element?.closest(`${zones}, #drop-overlay [data-target]`)
  return found instanceof HTMLElement ? found : undefined
}

function nameOf({ dataset }: HTMLElement): Target | undefined {
  const name = dataset['dropZone'] ?? dataset['target']
  return name === 'deposit' || name === 'verify' ? name : undefined
}

function mark(over: HTMLElement | undefined): void {
  for (const target of document.querySelectorAll(`${zones}, #drop-overlay [data-target]`)) {
    target.toggleAttribute('data-over', target === over)
  }
}

function visibleBox(zone: HTMLElement): Box | undefined {
  const { left, top, right, bottom } = zone.getBoundingClientRect()
  const isSeen = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
  return isSeen && right > left && bottom > top ? { left, top, right, bottom } : undefined
}

/** The largest strip of the window that keeps clear of all zones; `undefined` where none is usable. */
function roomBeside(
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
