/**
 * The first page that a browser sees is painted in a stand-in and changes to our faces once, when the
 * Latin part of both is there. On those that follow, `boot.js` asks for them at once.
 */
export function loadFonts(): void {
  // the second frame begins when the first has been painted
  requestAnimationFrame(() => requestAnimationFrame(() => void load()))
}

const latin = /^U\+0+-0*FF\b/i

async function load(): Promise<void> {
  try {
    // one by one: Firefox breaks what `document.fonts.load` answers when the page has gone on by then
    const faces = [...document.fonts].filter(({ unicodeRange }) => latin.test(unicodeRange))
    await Promise.all(faces.map(face => face.load()))
    localStorage.setItem('vidimus:fonts', 'loaded')
  } catch {
    return // no connection, or storage is switched off: the page stays in the other face
  }
  document.dispatchEvent(new Event('vidimus:changed'))
}
