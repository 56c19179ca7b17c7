import { localizedPath } from '../../i18n/index.ts'
import { onThisAndLaterPages, pageLocale } from '../kit/page.ts'

/** For the file input alone; `startDropAnywhere` handles dropped files. */
export function startHomeFileInput(): void {
  document.addEventListener('change', event => {
    if (event.target === zone()) takeChosen()
  })
  onThisAndLaterPages(takeChosen) // files that were chosen before this module had loaded
}

function takeChosen(): void {
  const input = zone()
  if (input) void hand([...(input.files ?? [])])
}

async function hand(files: File[]): Promise<void> {
  if (files.length === 0) return
  const [{ handOffFiles }, { navigate }] = await Promise.all([
    import('../../stores/file-handoff.ts'),
    import('../../stores/navigation.ts')
  ])
  handOffFiles({ to: 'verify', files, unreadable: [] })
  await navigate(localizedPath(pageLocale(), '/verify'))
}

function zone(): HTMLInputElement | undefined {
  const input = document.getElementById('home-files')
  return input instanceof HTMLInputElement ? input : undefined
}
