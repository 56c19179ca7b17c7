import type { LogProgress, ProcessedRequest } from '../../contract/requests.ts'

/** How the company's log was signed further, as the stream has told it. */
export interface SealingStep extends LogProgress {
  /** Its size before. The records from there on are sealed since `at`, and earlier ones for longer. */
  from: number
}

// an answer to a call arrives later than the step that seals its record, but not much later
const keptSteps = 20

/** The newest step is the last. */
export function afterStep(steps: readonly SealingStep[], step: SealingStep): SealingStep[] {
  return movesRecords(steps, step) ? [step] : [...steps, step].slice(-keptSteps)
}

/**
 * Whether the records that are not sealed may have other indexes now: the log has a successor, or was
 * mended.
 */
export function movesRecords(steps: readonly SealingStep[], step: SealingStep): boolean {
  const last = steps.at(-1)
  return !!last && (step.size < last.size || (!!last.paused && !step.paused))
}

/** A record that is not sealed stays so until it is loaded again. */
export function withoutPlace(request: ProcessedRequest): ProcessedRequest {
  if (!request.rung || request.rung === 'sealed') return request
  return { ...request, leaf_index: undefined, rung: 'recorded' }
}

/** Returns the same object if nothing changes. `held` is an earlier copy, whose seal stays. */
export function withSeal(
  request: ProcessedRequest,
  steps: readonly SealingStep[],
  held: ProcessedRequest | undefined
): ProcessedRequest {
  if (request.rung === 'sealed') return request
  if (held?.rung === 'sealed') {
    const { leaf_index, rung, sealed } = held
    return { ...request, leaf_index, rung, sealed }
  }
  const { leaf_index } = request
  const last = steps.at(-1)
  if (!last || leaf_index === undefined) return request
  const waits = last.paused ? 'sealing_paused' : 'recorded'
  const rung = leaf_index < last.size ? 'sealed' : waits
  if (rung === request.rung) return request
  const step = steps.find(({ from, size }) => leaf_index >= from && leaf_index < size)
  return { ...request, rung, sealed: step?.at }
}

/** Of two copies of one request. */
export function isNewer(request: ProcessedRequest, held: ProcessedRequest): boolean {
  if (request.seq !== held.seq) return request.seq > held.seq
  if (held.rung === 'sealed') return !held.sealed && !!request.sealed
  return request.rung !== held.rung || request.leaf_index !== held.leaf_index
}
