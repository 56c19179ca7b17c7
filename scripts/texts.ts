import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Messages } from '../src/i18n/index.ts'

/** Returns all texts of a language by namespace, which is the name of a file without its ending. */
export function textsOf(locale: string): Record<string, Messages> {
  const folder = join('src/i18n', locale)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const texts = files
    .filter(file => file.endsWith('.json'))
    .map(file => [basename(file, '.json'), JSON.parse(readFileSync(join(folder, file), 'utf8'))])
  return Object.fromEntries(texts.sort())
}
