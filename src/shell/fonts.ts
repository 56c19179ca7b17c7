/**
 * Loads our fonts after the first page has been painted in a fallback font. On later pages
 * `boot.js` loads them immediately.
 */
export function loadFonts(): void {
  // the second frame begins when the first has been painted
  requestAnimationFrame(() => requestAnimationFrame(showFonts))
}

function showFonts(): void {
  try {
    localStorage.setItem('vidimus:fonts', 'asked')
  } catch {
    return // storage may be switched off: the page then stays in the stand-in
  }
  document.dispatchEvent(new Event('vidimus:changed'))
}
