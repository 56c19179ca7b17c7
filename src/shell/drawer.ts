import { onClick, onEachPage, storeSettingInBrowser } from './kit/page.ts'

// in these windows the drawer is always visible, in full width or as a rail
const permanent = matchMedia('(min-width: 1280px)')
const key = 'vidimus:drawer'

/** In narrower windows the drawer is a popover, which the browser opens and closes. */
export function startDrawer(): void {
  onClick('#menu', (_button, event) => {
    if (!permanent.matches) return
    event.preventDefault()
    storeSettingInBrowser(
      key,
      document.documentElement.dataset['drawer'] === 'rail' ? undefined : 'rail'
    )
    document.dispatchEvent(new Event('vidimus:changed'))
    showState()
  })
  onEachPage(showState)
  permanent.addEventListener('change', () => {
    const drawer = document.getElementById('drawer')
    if (drawer?.matches(':popover-open')) drawer.hidePopover()
    showState()
  })
}

function showState(): void {
  const button = document.getElementById('menu')
  const isRail = document.documentElement.dataset['drawer'] === 'rail'
  // in narrower windows the browser sets it
  if (permanent.matches) button?.setAttribute('aria-expanded', String(!isRail))
  else button?.removeAttribute('aria-expanded')
}
