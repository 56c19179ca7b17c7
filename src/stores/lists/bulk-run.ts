import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import { browserEnvironment } from '../environment.ts'
import { personalAtom } from '../personal-atoms.ts'
import { createCallRetrier } from '../retries.ts'
import { addSessionEndListener } from '../sessions.ts'

export type BulkTarget<Filter> = { ids: readonly string[] } | { filter: Filter; count: number }

/** `cursor` is the place at which the call continues. Absent for the first call. */
export type BulkStepTarget<Filter> =
  | { ids: readonly string[]; filter?: never }
  | { ids?: never; filter: Filter; cursor?: string }

export interface BulkStepResult {
  done: readonly string[]
  unchanged: readonly string[]
  refused: readonly RefusedItem[]
  /** `null`: no items are left. */
  next: string | null
}

export interface RefusedItem {
  id: string
  code: string
}

export interface BulkRunState<Change> {
  change: Change
  status: 'running' | 'stopping' | 'stopped' | 'done' | { error: AppError }
  total: number
  treated: number
  done: readonly string[]
  unchanged: number
  refused: readonly RefusedItem[]
}

interface BulkRunOptions<Change, Filter> {
  limit: number
  /** `key` is the `Idempotency-Key`: a repeated call has the same key. */
  send(change: Change, step: BulkStepTarget<Filter>, key: string): Promise<BulkStepResult>
}

/**
 * Makes one call after the other, also while the person visits other pages. Ends with the session.
 */
export function createBulkRun<Change, Filter>({ limit, send }: BulkRunOptions<Change, Filter>) {
  const $run = personalAtom<BulkRunState<Change> | undefined>(undefined)
  let target: BulkTarget<Filter> | undefined
  let cursor: string | undefined
  let stopping = new AbortController()

  addSessionEndListener(() => {
    stopping.abort()
    target = undefined
  })

  async function start(change: Change, whose: BulkTarget<Filter>): Promise<void> {
    if (isRunning()) return
    target = whose
    cursor = undefined
    const total = 'ids' in whose ? whose.ids.length : whose.count
    $run.set({
      change,
      status: 'running',
      total,
      treated: 0,
      done: [],
      unchanged: 0,
      refused: []
    })
    await proceed()
  }

  async function proceed(): Promise<void> {
    const mine = new AbortController()
    stopping = mine
    update({ status: 'running' })
    try {
      let isMore = true
      while (isMore && !mine.signal.aborted) isMore = await step(mine.signal)
      if (mine === stopping) update({ status: isMore ? 'stopped' : 'done' })
    } catch (cause) {
      const error = asAppError(cause, 'Changing many at once failed')
      if (mine === stopping) update({ status: mine.signal.aborted ? 'stopped' : { error } })
    }
  }

  // returns whether further items are left
  async function step(signal: AbortSignal): Promise<boolean> {
    const run = $run.get()
    if (!run || !target) return false
    const part = partOf(target, run.treated)
    const key = crypto.randomUUID()
    const result = await createCallRetrier(browserEnvironment()).run(
      () => send(run.change, part, key),
      {
        signal
      }
    )
    const now = $run.get()
    if (!now || now.change !== run.change) return false
    const { done, unchanged, refused, next } = result
    const count = part.ids?.length ?? done.length + unchanged.length + refused.length
    const treated = run.treated + count
    cursor = next ?? undefined
    const isMore = 'ids' in target ? treated < target.ids.length : next !== null
    update({
      treated,
      // more than were counted, if others were added meanwhile
      total: Math.max(run.total, treated),
      done: [...run.done, ...done],
      unchanged: run.unchanged + unchanged.length,
      refused: [...run.refused, ...refused]
    })
    return isMore
  }

  function partOf(whose: BulkTarget<Filter>, treated: number): BulkStepTarget<Filter> {
    if ('ids' in whose) return { ids: whose.ids.slice(treated, treated + limit) }
    return { filter: whose.filter, ...(cursor === undefined ? {} : { cursor }) }
  }

  function update(changes: Partial<BulkRunState<Change>>): void {
    const run = $run.get()
    if (run) $run.set({ ...run, ...changes })
  }

  function isRunning(): boolean {
    const status = $run.get()?.status
    return status === 'running' || status === 'stopping'
  }

  return {
    $run,
    start,
    stop(): void {
      if (!isRunning()) return
      update({ status: 'stopping' })
      stopping.abort()
    },
    async resume(): Promise<void> {
      if ($run.get() && !isRunning()) await proceed()
    },
    async retryRefused(): Promise<void> {
      const run = $run.get()
      if (run && !isRunning()) await start(run.change, { ids: run.refused.map(({ id }) => id) })
    },
    dismiss(): void {
      if (!isRunning()) $run.set(undefined)
    }
  }
}
