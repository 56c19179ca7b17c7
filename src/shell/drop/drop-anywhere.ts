import { isOnPage, runInBackground } from '../kit/page.ts'
import {
  type DropAction,
  dropActionOf,
  dropTargetSelector,
  importPathHere,
  wholePageAction
} from './drop-actions.ts'
import type { DroppedItem } from './dropped-files.ts'

let overlay: typeof import('./drop-overlay.ts') | undefined
// while files are dragged over the window
let drag: { target: HTMLElement | undefined } | undefined

/** The code that shows the targets and reads the files is loaded later. */
export function startDropAnywhere(): void {
  addEventListener('dragenter', offer)
  addEventListener('dragover', offer)
  addEventListener('dragleave', event => {
    if (event.relatedTarget === null) end()
  })
  addEventListener('drop', event => {
    const to = actionOf(event)
    end()
    if (!carriesFiles(event) || !event.dataTransfer) return
    event.preventDefault()
    if (to) void hand(to, event.dataTransfer)
  })
  // no other event reports that a drag ended outside the window or by Escape
  addEventListener('dragend', end)
  addEventListener('pointermove', end)
  addEventListener('paste', event => {
    const { clipboardData } = event
    if (!clipboardData || clipboardData.files.length === 0 || event.defaultPrevented) return
    event.preventDefault()
    void hand(pasteTarget(), clipboardData)
  })
}

function pasteTarget(): DropAction {
  if (importPathHere() !== undefined) return 'import'
  return isOnPage('deposit') ? 'deposit' : 'verify'
}

/** So that dropping also works offline. */
export function preloadDropCode(): void {
  runInBackground(async () => {
    await Promise.all([import('./drop-overlay.ts'), import('./dropped-files.ts')]).catch(() => {
      // a drop tries again, and reports the error
    })
  })
}

function offer(event: DragEvent): void {
  if (!carriesFiles(event)) return
  event.preventDefault()
  const target = targetOf(event)
  if (event.dataTransfer) event.dataTransfer.dropEffect = actionOf(event) ? 'copy' : 'none'
  drag = { target }
  void show()
}

async function show(): Promise<void> {
  overlay ??= await import('./drop-overlay.ts')
  if (drag) overlay.showDropTargets(drag.target)
}

function end(): void {
  drag = undefined
  overlay?.hideDropTargets()
}

async function hand(to: DropAction, transfer: DataTransfer): Promise<void> {
  // before the first await, because the browser empties the list after the event
  const items = [...transfer.items].filter(({ kind }) => kind === 'file').map(look)
  const { handOffDroppedItems } = await import('./dropped-files.ts')
  await handOffDroppedItems(to, items)
}

function look(item: DataTransferItem): DroppedItem {
  return { entry: item.webkitGetAsEntry(), file: item.getAsFile(), handle: handleOf(item) }
}

async function handleOf(item: DataTransferItem): Promise<FileSystemFileHandle | undefined> {
  if (!('getAsFileSystemHandle' in item)) return undefined
  try {
    // as: Chromium has it, the library of types has not
    const { getAsFileSystemHandle } = item as { getAsFileSystemHandle: () => Promise<unknown> }
    const handle = await getAsFileSystemHandle.call(item)
    return handle instanceof FileSystemFileHandle ? handle : undefined
  } catch {
    return undefined // files that are not on the disk, such as pasted pictures, have none
  }
}

// where the page's own zone does all there is to do, it is everywhere
function actionOf(event: DragEvent): DropAction | undefined {
  const target = targetOf(event)
  return target ? dropActionOf(target) : wholePageAction()
}

function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') === true
}

// in Firefox, `target` may be a text node inside the drop target
function targetOf({ target }: Event): HTMLElement | undefined {
  const element =
    target instanceof Element ? target : target instanceof Node ? target.parentElement : null
  const found = element?.closest(dropTargetSelector)
  return found instanceof HTMLElement ? found : undefined
}
