import type { SealState } from '../evidence/seal-drawing.ts'

export interface StateLook {
  color: 'good' | 'bad' | 'soft'
  icon: 'check' | 'dashed'
  seal: SealState['kind']
  // keys of the word in the texts of each screen, which all say the same
  words: readonly string[]
}

/** The states that more than one screen shows. `recorded` carries the seal. */
export const stateLooks = {
  waiting: look('soft', 'idle', 'deposit.state.waiting', 'verify.waiting'),
  unfinished: look('soft', 'even', 'history.states.uploading'),
  recording: look(
    'soft',
    'sealing',
    'deposit.state.recording',
    'history.states.queued',
    'history.states.processing'
  ),
  recorded: look(
    'good',
    'sealed',
    'deposit.state.done',
    'deposit.stamp.word',
    'history.states.done',
    'history.details.recorded'
  ),
  cancelled: look('soft', 'idle', 'deposit.state.cancelled', 'history.states.cancelled'),
  failed: look('bad', 'idle', 'history.states.failed'),
  rejected: look('bad', 'idle', 'history.states.rejected'),
  original: look('good', 'sealed', 'verify.word.original', 'history.verdicts.original'),
  stored_copy: look('good', 'sealed', 'verify.word.stored_copy', 'history.verdicts.stored_copy'),
  fingerprint: look('good', 'sealed', 'verify.word.fingerprint'),
  not_found: look(
    'soft',
    'idle',
    'verify.word.not_found',
    'verify.word.fingerprint_not_found',
    'verify.seal.none',
    'history.verdicts.not_found'
  )
} as const satisfies Record<string, StateLook>
export type StateWithLook = keyof typeof stateLooks

function look(
  color: StateLook['color'],
  seal: StateLook['seal'],
  ...words: readonly string[]
): StateLook {
  return { color, icon: color === 'good' ? 'check' : 'dashed', seal, words }
}

export function stateColorClass(state: StateWithLook): string {
  return { good: 'text-success', bad: 'text-error', soft: 'text-ink-soft' }[stateLooks[state].color]
}

export function sealOfState(state: StateWithLook, leafHash?: string): SealState {
  const { seal } = stateLooks[state]
  if (seal === 'sealed') return leafHash ? { kind: 'sealed', leafHash } : { kind: 'sealing' }
  // as: the table gives the seals with progress to no state
  return { kind: seal } as SealState
}
