/** The part of a `POST /verify` answer that the words depend on. */
interface AnswerLike {
  verdict: 'authentic' | 'not_found'
  /** Time of the verification. */
  at: string
  findings: readonly { match: 'original' | 'stored_copy'; recorded: string; leaf_hash: string }[]
}

/** What was compared: a file, or a given fingerprint. */
export type CheckedSubject = 'file' | 'fingerprint'

/** How an answer is shown. Word, shape and sentence each express the verdict without the others. */
export interface VerdictDescription {
  /** Key of the word and the sentence in the dictionary: `word.original`, `sentence.original`. */
  key: 'original' | 'stored_copy' | 'not_found' | 'fingerprint' | 'fingerprint_not_found'
  tone: 'success' | 'neutral'
  /**
   * The time that the sentence states: that of the record, or of the verification where there is
   * none.
   */
  time: string
  /** The leaf hash of the record, which determines the seal. Undefined without a record. */
  leafHash: string | undefined
  /** Keys of further sentences: `adds.not_false`. */
  adds: readonly ('not_false' | 'no_file')[]
  /** Whether there is a record. */
  proves: boolean
}

/**
 * Returns how to show an answer. Of several records, an original precedes a reduced copy, and an
 * older record a later one. For a fingerprint without a file, the words do not claim that a file is
 * unchanged.
 */
export function describeVerdict(
  { verdict, at, findings }: AnswerLike,
  subject: CheckedSubject = 'file'
): VerdictDescription {
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
