/**
 * The first page that a browser sees is painted in a stand-in and asks for our faces then; on those that
 * follow, `boot.js` asks for them at once.
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
