/** What a seal (a round drawing) shows. */
export type SealState =
  | { kind: 'idle' }
  // waiting or in progress
  | { kind: 'even' }
  | { kind: 'hashing'; progress: number }
  | { kind: 'uploading'; progress: number }
  | { kind: 'recording' }
  // on record, but not sealed
  | { kind: 'recorded' }
  | { kind: 'sealed'; leafHash: string }

/** SVG paths for `viewBox="0 0 100 100"`, drawn with round caps and without fill. */
export type SealDrawing = {
  // clockwise from the top, each outwards; a tick without length appears as a dot
  ticks: string[]
  ring: {
    track: string
    // the progress of an upload
    filled: string
  }
  mark: string
  // `wax` is the primary color
  tone: 'ink' | 'wax'
}

/**
 * Returns a drawing in which each tick is a hex digit of the leaf hash. Seals of 32 px or less take
 * 16 ticks. A seal helps people recognize a record and proves nothing.
 */
export function drawSeal(state: SealState, ticks: 64 | 16 = 64): SealDrawing {
  const shape = shapes[ticks]
  // the dots of an idle seal have no ring, so they take its place
  const radius = state.kind === 'idle' ? shapes[64].ticks : shape.ticks
  return {
    ticks: lengthsOf(state, ticks).map((length, i) => tick(i / ticks, radius, length)),
    ring: { track: arc(1, shape.ring), filled: arc(filledShare(state), shape.ring) },
    mark: state.kind === 'sealed' ? shape.mark : '',
    tone: state.kind === 'sealed' ? 'wax' : 'ink'
  }
}

interface SealShape {
  ring: number
  ticks: number
  evenLength: number
  mark: string
  lengthOf: (digit: number) => number
}

const shapes: Record<64 | 16, SealShape> = {
  64: {
    ring: 28,
    ticks: 34,
    evenLength: 6,
    mark: 'M37 50.5L46.5 60L63.5 40',
    lengthOf: digit => 3 + 0.75 * digit
  },
  // four lengths that are 2 px apart in a seal of 28 px, so that the eye can tell them apart
  16: {
    ring: 16,
    ticks: 23,
    evenLength: 9,
    mark: 'M42.5 50.5L48 56L57.5 44.5',
    lengthOf: digit => 1 + 7.15 * Math.floor(digit / 4)
  }
}

function lengthsOf(state: SealState, ticks: 64 | 16): number[] {
  const { evenLength, lengthOf } = shapes[ticks]
  switch (state.kind) {
    case 'idle':
      return Array.from({ length: ticks }, () => 0)
    case 'hashing': {
      const reached = Math.floor(ticks * share(state.progress))
      return Array.from({ length: ticks }, (_, i) => (i < reached ? evenLength : 0))
    }
    case 'even':
    case 'uploading':
    case 'recording':
    case 'recorded':
      return Array.from({ length: ticks }, () => evenLength)
    case 'sealed': {
      const { leafHash } = state
      if (!/^[0-9a-f]{64}$/.test(leafHash)) throw new Error('seal: not a leaf hash in hex')
      const every = leafHash.length / ticks
      return Array.from({ length: ticks }, (_, i) =>
        lengthOf(Number.parseInt(leafHash.charAt(i * every), 16))
      )
    }
  }
}

function filledShare(state: SealState): number {
  switch (state.kind) {
    case 'idle':
    case 'even':
    case 'hashing':
      return 0
    case 'uploading':
      return share(state.progress)
    case 'recording':
    case 'recorded':
    case 'sealed':
      return 1
  }
}

function tick(turn: number, radius: number, length: number): string {
  return `M${point(turn, radius)}L${point(turn, radius + length)}`
}

// two equal halves, because one SVG arc cannot be a full circle
function arc(turn: number, radius: number): string {
  if (turn === 0) return ''
  const half = `A${radius} ${radius} 0 0 1 `
  return `M${point(0, radius)}${half}${point(turn / 2, radius)}${half}${point(turn, radius)}`
}

function point(turn: number, radius: number): string {
  const angle = 2 * Math.PI * turn
  return `${round(50 + radius * Math.sin(angle))} ${round(50 - radius * Math.cos(angle))}`
}

// Two digits, because the last bits of sine and cosine differ between engines.
function round(value: number): number {
  return Math.round(value * 100) / 100
}

function share(progress: number): number {
  return Math.min(1, Math.max(0, progress))
}
