/** The fields of a result of `POST /verify` that `describeVerdict` reads. */
interface AnswerLike {
  verdict: 'authentic' | 'not_found'
  /** Time of the verification by the server's clock. */
  at: string
  findings: readonly { match: 'original' | 'stored_copy'; recorded: string; leaf_hash: string }[]
}

/** What a person verified: a file, or a fingerprint without its file. */
export type VerifiedSubject = 'file' | 'fingerprint'

/**
 * How the result of a verification is shown. A word, a shape and a sentence each express the
 * verdict, so that nobody has to tell colors apart.
 */
export interface VerdictDescription {
  /**
   * Key of the verdict. The translated texts contain a word (`word.original`) and a sentence
   * (`sentence.original`) for each key.
   */
  key: 'original' | 'stored_copy' | 'not_found' | 'fingerprint' | 'fingerprint_not_found'
  /**
   * The time in the sentence: when the document was recorded or, if no record was found, when the
   * person verified it.
   */
  time: string
  /**
   * Leaf hash of the record in hex, from which the seal is drawn. Undefined if no record was found.
   */
  leafHash: string | undefined
  /**
   * Keys of the sentences that follow the main sentence. For example, `not_false` stands for the
   * translated text with the key `adds.not_false`.
   */
  adds: readonly ('not_false' | 'no_file')[]
}

/**
 * Returns how to show the result of a verification. If several records were found, describes the
 * record whose original file matches, or else the first record. A fingerprint without its file gets
 * other texts, which do not claim that a file is unchanged.
 */
export function describeVerdict(
  { verdict, at, findings }: AnswerLike,
  subject: VerifiedSubject = 'file'
): VerdictDescription {
  const finding = findings.find(({ match }) => match === 'original') ?? findings[0]
  if (verdict === 'not_found' || !finding) {
    return {
      key: subject === 'file' ? 'not_found' : 'fingerprint_not_found',
      time: at,
      leafHash: undefined,
      adds: ['not_false']
    }
  }
  return {
    key: subject === 'file' ? finding.match : 'fingerprint',
    time: finding.recorded,
    leafHash: finding.leaf_hash,
    adds: subject === 'file' ? [] : ['no_file']
  }
}
