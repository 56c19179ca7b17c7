import type { AppError } from '../../../contract/kit/errors.ts'
import type { CallerWatch, CompanyId, Deps, WatchedCaller } from '../deps.ts'
import { findLostRights, sessionEndedError } from './authentication.ts'

// signals report most changes at once, but they can get lost, and none says that a session or a key
// has expired
export const callerCheckMs = 1000
const maxChecked = 1000

interface Watched extends WatchedCaller {
  onEnd(reason: AppError): void
}

interface CompanyCallers {
  byPerson: Map<string, Set<Watched>>
  stop(): void
}

/**
 * `companyOf` is asked about all hosts once a second, and must know of a signal before the watch
 * does. It returns undefined for a host that is not served.
 */
export function createCallerWatch(
  deps: Pick<Deps, 'db' | 'clock' | 'signals' | 'log'>,
  companyOf: (host: string) => Promise<CompanyId | undefined>
): CallerWatch {
  const companies = new Map<CompanyId, CompanyCallers>()

  const { signals } = deps
  signals.sessions.on(({ company, user }) => {
    void check(company, companies.get(company)?.byPerson.get(user))
  })
  signals.companies.on(company => void check(company, callersOf(company)))
  signals.domains.on(domain => {
    for (const company of companies.keys()) {
      void check(
        company,
        callersOf(company).filter(({ host }) => isOfDomain(host, domain))
      )
    }
  })
  signals.missed.on(() => {
    for (const company of companies.keys()) void check(company, callersOf(company))
  })

  function callersOf(company: CompanyId): Watched[] {
    return [...(companies.get(company)?.byPerson.values() ?? [])].flatMap(some => [...some])
  }

  async function check(company: CompanyId, callers: Iterable<Watched> = []): Promise<void> {
    const all = [...callers]
    try {
      for (let from = 0; from < all.length; from += maxChecked) {
        await checkTogether(company, all.slice(from, from + maxChecked))
      }
    } catch (error) {
      // a busy database ends nobody; the next check decides
      deps.log.warn({ company, err: error }, 'the callers under way could not be checked')
    }
  }

  async function checkTogether(company: CompanyId, callers: Watched[]): Promise<void> {
    const hosts = [...new Set(callers.map(({ host }) => host))]
    const [lost, ...owners] = await Promise.all([
      findLostRights(deps, company, callers),
      ...hosts.map(companyOf)
    ])
    const served = new Set(hosts.filter((_, at) => owners[at] === company))
    for (const caller of callers) {
      const reason = served.has(caller.host) ? lost.get(caller) : sessionEndedError()
      if (reason && remove(company, caller)) caller.onEnd(reason)
    }
  }

  function add(company: CompanyId, caller: Watched): void {
    const callers = companies.get(company) ?? startChecks(company)
    const { id } = caller.person
    callers.byPerson.set(id, (callers.byPerson.get(id) ?? new Set()).add(caller))
  }

  function startChecks(company: CompanyId): CompanyCallers {
    let isChecking = false
    const timer = setInterval(async () => {
      if (isChecking) return
      isChecking = true
      await check(company, callersOf(company))
      isChecking = false
    }, callerCheckMs)
    timer.unref()
    const callers = { byPerson: new Map(), stop: () => clearInterval(timer) }
    companies.set(company, callers)
    return callers
  }

  // false if the caller was not watched any more
  function remove(company: CompanyId, caller: Watched): boolean {
    const callers = companies.get(company)
    const same = callers?.byPerson.get(caller.person.id)
    if (!callers || !same?.delete(caller)) return false
    if (same.size === 0) callers.byPerson.delete(caller.person.id)
    if (callers.byPerson.size === 0) {
      callers.stop()
      companies.delete(company)
    }
    return true
  }

  return {
    watch(caller, onEnd) {
      const watched = { ...caller, onEnd }
      add(caller.person.company_id, watched)
      return () => void remove(caller.person.company_id, watched)
    }
  }
}

function isOfDomain(host: string, domain: string): boolean {
  return host === domain || `*${host.slice(host.indexOf('.'))}` === domain
}
