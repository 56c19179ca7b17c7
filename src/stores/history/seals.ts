import type { LogProgress, ProcessedRequest } from '../../contract/requests.ts'

/** How the company's log was signed further, as the stream has told it. */
export interface SealingStep extends LogProgress {
  /** Its size before. The records from there on are sealed since `at`, and earlier ones for longer. */
  from: number
}

/**
 * Whether the records that are not sealed may have other indexes now: the log has a successor, or was
 * mended.
 */
export function movesRecords(last: SealingStep | undefined, step: SealingStep) {
  return last && (step.size < last.size || (last.paused && !step.paused))
}

/** A record that is not sealed stays so until it is loaded again. */
export function withoutPlace(request: ProcessedRequest): ProcessedRequest {
  return request.rung === 'sealed' ? request : { ...request, leaf_index: undefined }
}

/** Returns the same object if nothing changes. `held` is an earlier copy, whose seal stays. */
export function withSeal(
  request: ProcessedRequest,
  last: SealingStep | undefined,
  held: ProcessedRequest | undefined
): ProcessedRequest {
  if (request.rung === 'sealed') return request
  if (held?.rung === 'sealed') return { ...request, rung: 'sealed', sealed: held.sealed }
  const { leaf_index } = request
  if (!last || leaf_index === undefined) return request
  if (leaf_index < last.size)
    return { ...request, rung: 'sealed', sealed: leaf_index < last.from ? undefined : last.at }
  const rung = last.paused ? 'sealing_paused' : 'recorded'
  return rung === request.rung ? request : { ...request, rung }
}

/** Of two copies of one request. */
export function isNewer(request: ProcessedRequest, held: ProcessedRequest): boolean {
  if (request.seq !== held.seq) return request.seq > held.seq
  if (held.rung === 'sealed') return !held.sealed && !!request.sealed
  return request.rung !== held.rung || request.leaf_index !== held.leaf_index
}
