import { localizedPath } from '../i18n/index.ts'
import { filesOf } from './dropped-files.ts'
import { pageLocale, pageWords } from './page.ts'

type Target = 'deposit' | 'verify'

/** Files may be dropped and pasted on every page; a drop beside a target never leaves the page. */
export function startDropAnywhere(): void {
  addEventListener('dragover', event => {
    if (!carriesFiles(event)) return
    event.preventDefault()
    if (!overlay()) open()
    const target = targetOf(event)
    mark(target)
    if (event.dataTransfer) event.dataTransfer.dropEffect = target ? 'copy' : 'none'
  })
  addEventListener('dragleave', event => {
    if (event.relatedTarget === null) close()
  })
  addEventListener('drop', event => {
    const target = targetOf(event)
    close()
    if (!carriesFiles(event) || !event.dataTransfer) return
    event.preventDefault()
    if (target) void hand(target, event.dataTransfer)
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

async function hand(to: Target, transfer: DataTransfer): Promise<void> {
  const [{ files, unreadable, handles }, offers, { navigate }] = await Promise.all([
    filesOf(transfer),
    import('../stores/offers.ts'),
    import('../stores/navigation.ts')
  ])
  for (const [file, handle] of handles) offers.keepHandle(file, handle)
  if (files.length + unreadable.length === 0) return
  offers.offerFiles({ to, files, unreadable })
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

function open(): void {
  const t = pageWords()
  const box = document.createElement('div')
  box.id = 'drop-overlay'
  // for a pointer that holds files; others have the fields of the pages
  box.setAttribute('aria-hidden', 'true')
  const targets: Target[] = mayDeposit() ? ['deposit', 'verify'] : ['verify']
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
}

function close(): void {
  overlay()?.remove()
}

function overlay(): HTMLElement | null {
  return document.getElementById('drop-overlay')
}

function targetOf({ target }: Event): Target | undefined {
  const element = target instanceof Element ? target.closest('#drop-overlay [data-target]') : null
  const name = element instanceof HTMLElement ? element.dataset['target'] : undefined
  return name === 'deposit' || name === 'verify' ? name : undefined
}

function mark(name: Target | undefined): void {
  for (const target of overlay()?.querySelectorAll<HTMLElement>('[data-target]') ?? []) {
    target.toggleAttribute('data-over', target.dataset['target'] === name)
  }
}
