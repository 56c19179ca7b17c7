import type { SealState } from '../evidence/seal-drawing.ts'

export interface StateLook {
  color: 'good' | 'bad' | 'soft' | 'info' | 'warning'
  seal: SealState['kind']
}

/** The states that more than one screen shows. Only a sealed record has a seal of its own. */
export const stateLooks = {
  waiting: look('soft', 'idle'),
  unfinished: look('soft', 'even'),
  recording: look('soft', 'recording'),
  recorded: look('good', 'recorded'),
  sealing_paused: look('warning', 'recorded'),
  sealed: look('good', 'sealed'),
  cancelled: look('soft', 'idle'),
  failed: look('bad', 'idle'),
  rejected: look('bad', 'idle'),
  original: look('good', 'sealed'),
  stored_copy: look('good', 'sealed'),
  fingerprint: look('good', 'sealed'),
  not_found: look('soft', 'idle'),
  known_to_register: look('info', 'even'),
  indeterminate: look('warning', 'idle')
} as const satisfies Record<string, StateLook>
export type StateWithLook = keyof typeof stateLooks

/** Keys of the word in the texts of each screen, which all say the same. */
export const stateWords: Record<StateWithLook, readonly string[]> = {
  waiting: ['deposit.state.waiting', 'verify.waiting'],
  unfinished: ['history.states.uploading'],
  recording: ['deposit.state.recording', 'history.states.queued', 'history.states.processing'],
  recorded: ['deposit.state.done', 'history.states.done', 'history.details.recorded'],
  sealing_paused: ['deposit.state.sealing_paused', 'history.states.sealing_paused'],
  sealed: [
    'deposit.state.sealed',
    'deposit.stamp.sealed',
    'history.states.sealed',
    'history.details.sealed'
  ],
  cancelled: ['deposit.state.cancelled', 'history.states.cancelled'],
  failed: ['history.states.failed'],
  rejected: ['history.states.rejected'],
  original: ['verify.word.original', 'history.verdicts.original'],
  stored_copy: ['verify.word.stored_copy', 'history.verdicts.stored_copy'],
  fingerprint: ['verify.word.fingerprint'],
  not_found: [
    'verify.word.not_found',
    'verify.word.fingerprint_not_found',
    'verify.seal.none',
    'history.verdicts.not_found'
  ],
  known_to_register: ['verify.word.known_to_register', 'history.verdicts.known_to_register'],
  indeterminate: ['verify.word.indeterminate', 'history.verdicts.indeterminate']
}

function look(color: StateLook['color'], seal: StateLook['seal']): StateLook {
  return { color, seal }
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

const icons = {
  good: 'check',
  bad: 'dashed',
  soft: 'dashed',
  info: 'square',
  warning: 'alert'
} as const

export function iconOfState(state: StateWithLook) {
  return icons[stateLooks[state].color]
}

/** Without a leaf hash, a state that has a seal is drawn as one that is not sealed yet. */
export function sealOfState(state: StateWithLook, leafHash?: string): SealState {
  const { seal } = stateLooks[state]
  if (seal === 'sealed') return leafHash ? { kind: 'sealed', leafHash } : { kind: 'recorded' }
  // as: the table gives the seals with progress to no state
  return { kind: seal } as SealState
}
