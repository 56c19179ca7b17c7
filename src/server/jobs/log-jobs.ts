import { isTemporaryDatabaseError } from '../domain/database-errors.ts'
import type { CompanyId, Deps, ServiceSignal } from '../domain/deps.ts'
import { monitorNextLog } from '../domain/evidence/log-monitor.ts'
import {
  noteFailure,
  noteSuccess,
  publishLog,
  readPublishingState
} from '../domain/evidence/log-publishing.ts'
import { createSignaledJob, forEachCompany } from './each-company.ts'
import type { Job } from './job-runner.ts'

const frozenCheckMs = 60_000

/**
 * Signs the log of each company that has new leaves, at the next multiple of `logBatchMs`, so that
 * people who watch a log do not learn exactly when records are made. Each log is also compared with
 * the database when the process starts, after a lost connection, because another database may answer
 * then, and once a minute while it is frozen or cannot be signed.
 */
export function publishLogsJob(deps: Deps): Job {
  const looked = new Map<CompanyId, number>()
  const due = new Set<CompanyId>()
  const failing = new Set<CompanyId>()
  deps.signals.missed.on(() => looked.clear())

  async function publish(company: CompanyId): Promise<boolean> {
    try {
      const hasMore = await publishLog(deps, company)
      if (failing.delete(company)) await noteSuccess(deps, company)
      return hasMore
    } catch (error) {
      if (isTemporaryDatabaseError(error)) throw error
      const isNew = !failing.has(company)
      failing.add(company)
      await noteFailure(deps, company, { error, isNew })
      return false
    }
  }
  return createSignaledJob(deps, {
    name: 'publish-logs',
    parallel: 4,
    signal: atMultiplesOf(deps.settings.logBatchMs, deps.signals.leaves, due),
    async workOnNext(company) {
      const isDue = due.delete(company)
      const { hasNew, isFrozen } = await readPublishingState(deps, company)
      const now = deps.clock().getTime()
      const at = looked.get(company)
      const mustLook =
        at === undefined || ((isFrozen || failing.has(company)) && now - at >= frozenCheckMs)
      if (mustLook || (isDue && hasNew && !isFrozen)) {
        looked.set(company, now)
        if (!(await publish(company))) return false
      }
      // leaves of a process that died, or more than are signed at once
      if (hasNew && !isFrozen) deps.signals.leaves.send(company)
      return false
    }
  })
}

/** Each log once a day. */
export function monitorLogsJob(deps: Deps): Job {
  const name = 'monitor-logs'
  return {
    name,
    everyMs: 60 * 60_000,
    run: stopping =>
      forEachCompany(deps, { job: name, stopping }, async company => {
        while (!stopping() && (await monitorNextLog(deps, company, stopping)));
      })
  }
}

// what is sent meanwhile is in the database by then
function atMultiplesOf(ms: number, signal: ServiceSignal, due: Set<CompanyId>): ServiceSignal {
  return {
    send: signal.send,
    on(listener) {
      const waiting = new Map<CompanyId, NodeJS.Timeout>()
      const end = signal.on(company => {
        if (waiting.has(company)) return
        const deliver = () => {
          waiting.delete(company)
          due.add(company)
          listener(company)
        }
        waiting.set(company, setTimeout(deliver, ms - (Date.now() % ms)))
      })
      return () => {
        end()
        for (const timer of waiting.values()) clearTimeout(timer)
      }
    }
  }
}
