import { storeSettingInBrowser } from './kit/page.ts'

/**
 * The first page is painted in a fallback font. On later pages `boot.js` loads the fonts
 * immediately.
 */
export function loadFonts(): void {
  // the second frame begins when the first has been painted
  requestAnimationFrame(() => requestAnimationFrame(showFonts))
}

function showFonts(): void {
  // without storage the page stays in the fallback font
  storeSettingInBrowser('vidimus:fonts', 'asked')
  document.dispatchEvent(new Event('vidimus:changed'))
}
