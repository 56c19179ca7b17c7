import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sentencesIn } from '../src/contract/openapi/sentences.ts'
import type { Messages } from '../src/i18n/index.ts'

/** The fields that the page of the API explains, and where the contract has their sentences. */
const meanings = {
  state: 'RequestState',
  verdict: 'Verdict',
  match: 'MatchedFingerprintKind',
  rung: 'Rung',
  leaf_hash: 'leaf_hash',
  receipt: 'receipt',
  store: 'StoredContentKind'
}

/** Returns all texts of a language by namespace, which is the name of a file without its ending. */
export function textsOf(locale: string): Record<string, Messages> {
  const folder = join('src/i18n', locale)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const texts = files
    .filter(file => file.endsWith('.json'))
    .map(file => [basename(file, '.json'), JSON.parse(readFileSync(join(folder, file), 'utf8'))])
  const found = Object.fromEntries(texts.sort())
  if (locale === 'en') addSentencesOfContract(found.docs)
  return found
}

function addSentencesOfContract(docs: { calls: Messages; examples: Messages }): void {
  const files = readdirSync('src/contract').filter(file => file.endsWith('.ts'))
  const sources = files.map(file => readFileSync(join('src/contract', file), 'utf8'))
  const { calls, others } = sentencesIn(sources.join('\n'))
  Object.assign(docs.calls, calls)
  docs.examples['meanings'] = Object.fromEntries(
    Object.entries(meanings).map(([field, name]) => [field, others[name] ?? ''])
  )
}
