/** An answer of `POST /verify`, as far as its words go. */
interface AnswerLike {
  verdict: 'authentic' | 'not_found'
  /** When it was asked. */
  at: string
  findings: readonly { match: 'original' | 'stored_copy'; recorded: string; leaf_hash: string }[]
}

/** What was compared: a file at hand, or a fingerprint that somebody gave. */
export type Subject = 'file' | 'fingerprint'

/** How an answer is told. Word, shape and sentence each suffice alone. */
export interface Telling {
  /** Word and sentence in the catalogue: `word.original`, `sentence.original`. */
  key: 'original' | 'stored_copy' | 'not_found' | 'fingerprint' | 'fingerprint_not_found'
  tone: 'success' | 'neutral'
  /** The time in the sentence: of the record, or of the question. */
  time: string
  /** Gives the seal its shape; nothing without a record. */
  leafHash: string | undefined
  /** Sentences that always follow, in the catalogue: `adds.not_false`. */
  adds: readonly ('not_false' | 'no_file')[]
  /** Whether there is a record that proves something. */
  proves: boolean
}

/**
 * The one sentence for an answer. The original counts before a reduced copy, and the first of several
 * records before the later ones, because it says most. Without a file nothing is called unchanged.
 */
export function tell({ verdict, at, findings }: AnswerLike, subject: Subject = 'file'): Telling {
  const finding = findings.find(({ match }) => match === 'original') ?? findings[0]
  if (verdict === 'not_found' || !finding) {
    return {
      key: subject === 'file' ? 'not_found' : 'fingerprint_not_found',
      tone: 'neutral',
      time: at,
      leafHash: undefined,
      adds: ['not_false'],
      proves: false
    }
  }
  return {
    key: subject === 'file' ? finding.match : 'fingerprint',
    tone: 'success',
    time: finding.recorded,
    leafHash: finding.leaf_hash,
    adds: subject === 'file' ? [] : ['no_file'],
    proves: true
  }
}
