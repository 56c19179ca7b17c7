interface AnswerLike {
  verdict: 'authentic' | 'not_found'
  at: string
  findings: readonly { match: 'original' | 'stored_copy'; recorded: string; leaf_hash: string }[]
}

export type VerifiedSubject = 'file' | 'fingerprint'

/** A word, a shape and a sentence express the verdict, so that nobody has to tell colors apart. */
export interface VerdictDescription {
  key: 'original' | 'stored_copy' | 'not_found' | 'fingerprint' | 'fingerprint_not_found'
  // when the document was recorded or else when it was verified
  time: string
  leafHash: string | undefined
  // `adds.not_false`: sentences that follow the main one
  adds: readonly ('not_false' | 'no_file')[]
}

/**
 * Prefers a record whose original file matches. A fingerprint without its file gets texts that do
 * not claim that a file is unchanged.
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
