import { onEachPage, storeSettingInBrowser } from './kit/page.ts'

const key = 'vidimus:scheme'

/** `boot.js` applies the choice to each page. */
export function startColorScheme(): void {
  document.addEventListener('change', event => {
    const input = event.target
    if (!(input instanceof HTMLInputElement) || input.name !== 'scheme') return
    storeSettingInBrowser(key, input.value === 'system' ? undefined : input.value)
    document.dispatchEvent(new Event('vidimus:changed'))
  })
  // an island that draws the choice again sends this event, too
  document.addEventListener('vidimus:changed', showChoice)
  onEachPage(showChoice)
}

function showChoice(): void {
  const theme = document.documentElement.dataset['theme']
  const scheme = theme === 'vidimus' ? 'light' : theme === 'vidimus-dark' ? 'dark' : 'system'
  for (const input of document.querySelectorAll(`input[name=scheme][value=${scheme}]`)) {
    if (input instanceof HTMLInputElement) input.checked = true
  }
}
