/** Returns a `data:` URL that shows SVG text as an image. No script runs in such an image. */
export function svgDataUrl(svg: string): string {
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
