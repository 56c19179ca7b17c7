const families = ['Instrument Sans Variable', 'Source Serif 4 Variable']

/**
 * The first page that a browser sees is painted in a stand-in and changes to ours once, when the
 * Latin part of both is there. On those that follow, `boot.js` asks for ours at once.
 */
export function loadFonts(): void {
  // the second frame begins when the first has been painted
  requestAnimationFrame(() => requestAnimationFrame(() => void load()))
}

async function load(): Promise<void> {
  try {
    const loaded = await Promise.all(families.map(name => document.fonts.load(`1em "${name}"`)))
    if (loaded.some(faces => faces.length === 0)) return
    localStorage.setItem('vidimus:fonts', 'loaded')
  } catch {
    return // no connection, or storage is switched off: the page stays in the other face
  }
  document.dispatchEvent(new Event('vidimus:changed'))
}
