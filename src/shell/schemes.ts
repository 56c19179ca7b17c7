import { onPage } from './page.ts'

const key = 'vidimus:scheme'

/** The choice between system, light and dark; `boot.js` puts it on the page. */
export function startSchemes(): void {
  document.addEventListener('change', event => {
    const input = event.target
    if (!(input instanceof HTMLInputElement) || input.name !== 'scheme') return
    try {
      if (input.value === 'system') localStorage.removeItem(key)
      else localStorage.setItem(key, input.value)
    } catch {
      return // storage may be switched off: the page then follows the system
    }
    document.dispatchEvent(new Event('vidimus:changed'))
  })
  onPage(showChoice)
}

function showChoice(): void {
  const theme = document.documentElement.dataset['theme']
  const scheme = theme === 'vidimus' ? 'light' : theme === 'vidimus-dark' ? 'dark' : 'system'
  const input = document.querySelector(`input[name=scheme][value=${scheme}]`)
  if (input instanceof HTMLInputElement) input.checked = true
}
