import { navigate } from 'astro:transitions/client'
import { localizedPath } from '../i18n/index.ts'
import { onPage, pageLocale } from './page.ts'

/**
 * The zone of the home page: a plain file input, and drops anywhere on the page; the files are handed
 * to the verify page. On other pages a drop beside a target must not leave the product.
 */
export function startDropZone(): void {
  document.addEventListener('change', event => {
    if (event.target === zone()) takeChosen()
  })
  onPage(takeChosen) // files that were chosen before this module had loaded
  addEventListener('dragover', event => over(event, true))
  addEventListener('dragleave', event => {
    if (event.relatedTarget === null) over(event, false)
  })
  addEventListener('drop', event => {
    over(event, false)
    if (zone()) void hand([...(event.dataTransfer?.files ?? [])])
  })
}

function over(event: DragEvent, isOver: boolean): void {
  if (!event.dataTransfer?.types.includes('Files')) return
  // An island with a zone of its own takes the event by itself.
  if (!document.querySelector('astro-island [data-over]')) event.preventDefault()
  zone()?.closest('.drop-zone')?.toggleAttribute('data-over', isOver)
}

function takeChosen(): void {
  const input = zone()
  if (input) void hand([...(input.files ?? [])])
}

async function hand(files: File[]): Promise<void> {
  if (files.length === 0) return
  const { offerFiles } = await import('../stores/verifications.ts')
  offerFiles(files)
  await navigate(localizedPath(pageLocale(), '/verify'))
}

function zone(): HTMLInputElement | undefined {
  const input = document.getElementById('home-files')
  return input instanceof HTMLInputElement ? input : undefined
}
