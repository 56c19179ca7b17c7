/**
 * If the drawer has a control for the action, presses it, so that palette and drawer do the same.
 */
export function runAction(id: string): void {
  const [act = '', value = ''] = id.split('-')
  if (id === 'verify-file' || id === 'deposit-file') chooseFiles(act === 'verify' ? act : 'deposit')
  else if (id === 'keys')
    void import('./key-help.ts').then(({ openShortcutHelp }) => openShortcutHelp())
  else if (id === 'sign-out') click('[data-act=sign-out]')
  else if (act === 'scheme') click(`input[name=scheme][value=${value}]`)
  else if (act === 'language') click(`a[data-locale=${value}]`)
}

function click(selector: string): void {
  document.querySelector<HTMLElement>(`#drawer ${selector}`)?.click()
}

function chooseFiles(to: 'verify' | 'deposit'): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  input.addEventListener('change', async () => {
    const items = [...(input.files ?? [])].map(file => ({
      entry: null,
      file,
      handle: Promise.resolve(undefined)
    }))
    const { handOffDroppedItems } = await import('../drop/dropped-files.ts')
    await handOffDroppedItems(to, items)
  })
  input.click()
}
