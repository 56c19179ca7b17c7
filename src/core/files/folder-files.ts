const utf8 = new TextEncoder()
const maxNameBytes = 255
const systemNames = new Set(['.ds_store', 'thumbs.db', 'desktop.ini'])

/** Whether an operating system or an archiver put the file beside a person's own. */
export function isSystemFile(path: string): boolean {
  const steps = path.split('/')
  const name = steps.at(-1) ?? ''
  return steps.includes('__MACOSX') || name.startsWith('._') || systemNames.has(name.toLowerCase())
}

/**
 * Returns the name of a file within the chosen folder; of a path too long for a name the outermost
 * folders are left out. `'2024/march/bill.pdf'` → `'march/bill.pdf'`
 */
export function nameInFolder(path: string): string {
  const steps = path.normalize('NFC').split('/').filter(Boolean).slice(1)
  while (steps.length > 1 && utf8.encode(steps.join('/')).length > maxNameBytes) steps.shift()
  return steps.join('/')
}
