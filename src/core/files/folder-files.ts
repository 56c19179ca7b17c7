const maxNameCodeUnits = 255
const systemNames = new Set(['.ds_store', 'thumbs.db', 'desktop.ini'])

export function isSystemFile(path: string): boolean {
  const steps = path.split('/')
  const name = steps.at(-1) ?? ''
  return steps.includes('__MACOSX') || name.startsWith('._') || systemNames.has(name.toLowerCase())
}

/**
 * Returns the path below the chosen folder, without outer folders beyond 255 code units:
 * `'2024/march/bill.pdf'` → `'march/bill.pdf'`
 */
export function pathInFolder(path: string): string {
  const steps = path.normalize('NFC').split('/').filter(Boolean).slice(1)
  while (steps.length > 1 && steps.join('/').length > maxNameCodeUnits) steps.shift()
  return steps.join('/')
}
