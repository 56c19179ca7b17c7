import type { SealState } from '../evidence/seal-drawing.ts'

export interface StateLook {
  color: 'good' | 'bad' | 'soft' | 'info' | 'warning'
  icon: 'check' | 'dashed' | 'square' | 'alert'
  seal: SealState['kind']
  // keys of the word in the texts of each screen, which all say the same
  words: readonly string[]
}

const icons = {
  good: 'check',
  bad: 'dashed',
  soft: 'dashed',
  info: 'square',
  warning: 'alert'
} as const

/** The states that more than one screen shows. Only a sealed record has a seal of its own. */
export const stateLooks = {
  waiting: look('soft', 'idle', 'deposit.state.waiting', 'verify.waiting'),
  unfinished: look('soft', 'even', 'history.states.uploading'),
  recording: look(
    'soft',
    'recording',
    'deposit.state.recording',
    'history.states.queued',
    'history.states.processing'
  ),
  recorded: look(
    'good',
    'recorded',
    'deposit.state.done',
    'history.states.done',
    'history.details.recorded'
  ),
  sealing_paused: look(
    'warning',
    'recorded',
    'deposit.state.sealing_paused',
    'history.states.sealing_paused'
  ),
  sealed: look(
    'good',
    'sealed',
    'deposit.state.sealed',
    'deposit.stamp.sealed',
    'history.states.sealed',
    'history.details.sealed'
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
  ),
  known_to_register: look(
    'info',
    'even',
    'verify.word.known_to_register',
    'history.verdicts.known_to_register'
  ),
  indeterminate: look(
    'warning',
    'idle',
    'verify.word.indeterminate',
    'history.verdicts.indeterminate'
  )
} as const satisfies Record<string, StateLook>
export type StateWithLook = keyof typeof stateLooks

function look(
  color: StateLook['color'],
  seal: StateLook['seal'],
  ...words: readonly string[]
): StateLook {
  return { color, icon: icons[color], seal, words }
}

const colorClasses = {
  good: 'text-success',
  bad: 'text-error',
  soft: 'text-ink-soft',
  info: 'text-info',
  warning: 'text-warning'
}

export function stateColorClass(state: StateWithLook): string {
  return colorClasses[stateLooks[state].color]
}

/** Without a leaf hash, a state that has a seal is drawn as one that is not sealed yet. */
export function sealOfState(state: StateWithLook, leafHash?: string): SealState {
  const { seal } = stateLooks[state]
  if (seal === 'sealed') return leafHash ? { kind: 'sealed', leafHash } : { kind: 'recorded' }
  // as: the table gives the seals with progress to no state
  return { kind: seal } as SealState
}
