const maxNameCodeUnits = 255
const systemNames = new Set(['.ds_store', 'thumbs.db', 'desktop.ini'])

/**
 * Returns whether `path` leads to a file that an operating system or archive program has created
 * for itself, such as `.DS_Store`.
 */
export function isSystemFile(path: string): boolean {
  const steps = path.split('/')
  const name = steps.at(-1) ?? ''
  return steps.includes('__MACOSX') || name.startsWith('._') || systemNames.has(name.toLowerCase())
}

/**
 * Returns the path of a file below the folder that the person chose: `'2024/march/bill.pdf'` →
 * `'march/bill.pdf'`. If this path has more than 255 code units, also drops its outer folders until it
 * fits.
 */
export function pathInFolder(path: string): string {
  const steps = path.normalize('NFC').split('/').filter(Boolean).slice(1)
  while (steps.length > 1 && steps.join('/').length > maxNameCodeUnits) steps.shift()
  return steps.join('/')
}
