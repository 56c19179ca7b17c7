import * as z from 'zod/mini'
import { LogProgress, type ProcessedRequest } from '../../contract/requests.ts'

/** How a log was signed further. */
export const SealingStep = z.extend(LogProgress, {
  // its size before: the records from there on are sealed since `at`, and earlier ones for longer
  from: z.number()
})
export type SealingStep = z.infer<typeof SealingStep>

/** What this tab knows of the company's log. */
export interface Sealing {
  size: number
  isPaused: boolean
  // the latest, the newest last
  steps: readonly SealingStep[]
}

// an answer to a call arrives later than the step that seals its record, but not much later
const keptSteps = 20

export function afterStep(before: Sealing | undefined, step: SealingStep): Sealing {
  const { size, paused: isPaused = false } = step
  const isNews = step.from < size && step.at !== undefined
  const steps = isBehind(before, step) ? [] : (before?.steps ?? [])
  return { size, isPaused, steps: isNews ? [...steps, step].slice(-keptSteps) : steps }
}

/**
 * Whether the records that are not sealed may have other indexes now: the log has a successor, or was
 * mended.
 */
export function movesRecords(before: Sealing | undefined, step: SealingStep): boolean {
  return isBehind(before, step) || (before?.isPaused === true && !step.paused)
}

function isBehind(before: Sealing | undefined, { size }: SealingStep): boolean {
  return before !== undefined && size < before.size
}

/** A record that is not sealed stays so until it is loaded again. */
export function withoutPlace(request: ProcessedRequest): ProcessedRequest {
  if (request.rung === 'sealed' || request.leaf_index === undefined) return request
  return { ...request, leaf_index: undefined, rung: 'recorded' }
}

/** Returns the same object if nothing changes. `held` is an earlier copy, whose seal stays. */
export function withSeal(
  request: ProcessedRequest,
  sealing: Sealing | undefined,
  held: ProcessedRequest | undefined
): ProcessedRequest {
  if (request.kind !== 'deposit' || request.state !== 'done') return request
  if (request.rung === 'sealed') return request
  if (held?.rung === 'sealed') {
    const { rung, sealed, leaf_index } = held
    return { ...request, rung, leaf_index, ...(sealed === undefined ? {} : { sealed }) }
  }
  const { leaf_index = held?.leaf_index } = request
  if (!sealing || leaf_index === undefined) return request
  if (leaf_index >= sealing.size) {
    const rung = sealing.isPaused ? 'sealing_paused' : 'recorded'
    return rung === request.rung ? request : { ...request, rung }
  }
  const step = sealing.steps.find(({ from, size }) => leaf_index >= from && leaf_index < size)
  return { ...request, leaf_index, rung: 'sealed', ...(step?.at ? { sealed: step.at } : {}) }
}

/** Of two copies of one request. */
export function isNewer(request: ProcessedRequest, held: ProcessedRequest): boolean {
  if (request.seq !== held.seq) return request.seq > held.seq
  if (held.rung === 'sealed') return held.sealed === undefined && request.sealed !== undefined
  return request.rung !== held.rung || request.leaf_index !== held.leaf_index
}
