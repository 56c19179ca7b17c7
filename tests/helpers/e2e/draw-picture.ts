/**
 * The sizes at which pages show logos and favicons, in device pixels of a screen that has two of
 * them per pixel: the logo of a page, the theme editor and the browser's tab.
 */
export const pictureSizes = [
  { w: 400, h: 80 },
  { w: 192, h: 112 },
  { w: 64, h: 64 }
] as const

/** How long a drawing took, and a digest of its pixels. */
export interface Drawing {
  milliseconds: number
  pixels: number
  isBlank: boolean
}

/**
 * Loads and draws a picture in the browser. Throws if the browser cannot read the picture. Runs in
 * the page, so it uses nothing from this file.
 */
export async function drawPicture({
  picture,
  w,
  h
}: {
  picture: string
  w: number
  h: number
}): Promise<Drawing> {
  const started = performance.now()
  const image = new Image()
  image.src = `data:image/svg+xml,${encodeURIComponent(picture)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = w
  canvas.height = h
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) throw new Error('This browser has no canvas')
  context.drawImage(image, 0, 0, w, h)
  // waits until it is drawn
  const { data } = context.getImageData(0, 0, w, h)
  const milliseconds = performance.now() - started
  const pixels = data.reduce((digest, value) => (digest * 31 + value) % 2 ** 40, 0)
  return { milliseconds, pixels, isBlank: data.every(value => value === 0) }
}
