interface AnswerLike {
  verdict: 'authentic' | 'known_to_register' | 'not_found' | 'indeterminate'
  at: string
  findings: readonly {
    match: 'original' | 'stored_copy'
    recorded: string
    leaf_hash: string
    // of a record that is not sealed
    rung?: string | undefined
  }[]
  sources: readonly { id: string; result: 'found' | 'not_found' | 'unreachable' | 'not_asked' }[]
}

/** A register as it was asked. */
interface RegisterLike {
  id: string
  name: string
  at: string
}

export type VerifiedSubject = 'file' | 'fingerprint' | 'reference'

/** A word, a shape and a sentence express the verdict, so that nobody has to tell colors apart. */
export interface VerdictDescription {
  key:
    | 'original'
    | 'stored_copy'
    | 'fingerprint'
    | 'not_found'
    | 'fingerprint_not_found'
    | 'known_to_register'
    | 'indeterminate'
  sentence:
    | 'original'
    | 'stored_copy'
    | 'fingerprint'
    | 'not_found'
    | 'fingerprint_not_found'
    | 'reference_not_found'
    | `listed_${VerifiedSubject}`
    | 'indeterminate'
  // when the document was recorded, of the version that lists it, or else when it was verified
  time: string
  // the first register that lists it or did not reply, and how many there are
  register: string
  count: number
  // of a sealed record
  leafHash: string | undefined
  // `adds.not_false`: sentences that follow the main one
  adds: readonly ('not_false' | 'no_file' | 'not_sealed' | 'check_fields' | 'not_a_no')[]
}

/**
 * Prefers a record whose original file matches. A fingerprint without its file gets texts that do
 * not claim that a file is unchanged.
 */
export function describeVerdict(
  { verdict, at, findings, sources }: AnswerLike,
  subject: VerifiedSubject = 'file',
  registers: readonly RegisterLike[] = []
): VerdictDescription {
  const finding = findings.find(({ match }) => match === 'original') ?? findings[0]
  const named = (result: 'found' | 'unreachable') =>
    registers.filter(({ id }) => sources.some(each => each.id === id && each.result === result))
  const none = { time: at, register: '', count: 0, leafHash: undefined }
  switch (verdict) {
    case 'authentic': {
      if (!finding) break
      const key = subject === 'fingerprint' ? 'fingerprint' : finding.match
      const { recorded: time, leaf_hash, rung } = finding
      const leafHash = rung === undefined ? leaf_hash : undefined
      const adds = [
        ...(subject === 'fingerprint' ? (['no_file'] as const) : []),
        ...(leafHash === undefined ? (['not_sealed'] as const) : [])
      ]
      return { ...none, key, sentence: key, time, leafHash, adds }
    }
    case 'known_to_register': {
      const [first] = named('found')
      const texts = { key: verdict, sentence: `listed_${subject}`, adds: [] } as const
      return { ...none, ...texts, time: first?.at ?? at, register: first?.name ?? '' }
    }
    case 'indeterminate': {
      const silent = named('unreachable')
      const [first] = silent
      const texts = { key: verdict, sentence: verdict, adds: ['not_a_no'] } as const
      return { ...none, ...texts, register: first?.name ?? '', count: silent.length }
    }
  }
  const key = subject === 'fingerprint' ? 'fingerprint_not_found' : 'not_found'
  return subject === 'reference'
    ? { ...none, key, sentence: 'reference_not_found', adds: ['check_fields'] }
    : { ...none, key, sentence: key, adds: ['not_false'] }
}
