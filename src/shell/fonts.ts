import { storeSettingInBrowser } from './kit/page.ts'

/** Longer than two answers are apart on a slow line while the page still loads something. */
const quietMs = 600

/**
 * Loads our fonts once the first page works and the network is quiet. Earlier, they would delay the
 * page's scripts and its first calls of the API. On later pages `boot.js` loads them immediately.
 */
export function loadFonts(): void {
  let timer: ReturnType<typeof setTimeout>
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (document.querySelector('astro-island[ssr]')) return wait()
      observer.disconnect()
      showFonts()
    }, quietMs)
  }
  const observer = new PerformanceObserver(wait)
  observer.observe({ type: 'resource' })
  wait()
}

function showFonts(): void {
  // without storage the page stays in the fallback font
  storeSettingInBrowser('vidimus:fonts', 'asked')
  document.dispatchEvent(new Event('vidimus:changed'))
}
