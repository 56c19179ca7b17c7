import type { Page } from '@playwright/test'

/** Returns the main color that a page has in the light mode. */
export async function mainColor(visitor: Page, address: string): Promise<string> {
  await visitor.goto(address)
  return visitor.evaluate(() =>
    getComputedStyle(document.documentElement).getPropertyValue('--color-primary').trim()
  )
}

/** Returns a logo as SVG text. `inside` is more SVG to put into it. */
export function logoSvg(inside = ''): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 30">${inside}<rect width="90" height="30" fill="#0a7"/></svg>`
}

/** Returns an SVG picture as a file for a file input. */
export function svgFile(text: string) {
  return { name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(text) }
}
