import type { NotificationListener } from '../db/notifications.ts'
import { parseCompanyId } from '../db/scope.ts'
import type { CompanyId, PersonInCompany, ServiceSignal, ServiceSignals } from '../domain/deps.ts'

/**
 * `uploads`, `mails`, `imports` and `registers` wake jobs of this process alone. If it crashes before the work
 * is done, the jobs of every process look for work every few seconds. The others also reach the
 * processes that use the same database.
 */
export function createServiceSignals(
  notifications?: Pick<NotificationListener, 'send' | 'listen'>
): ServiceSignals {
  const events = signal<PersonInCompany>(key =>
    notifications?.send(`events ${key.company} ${key.user}`)
  )
  const sessions = signal<PersonInCompany>(key =>
    notifications?.send(`sessions ${key.company} ${key.user}`)
  )
  const writers = signal<{ company: CompanyId; upload: string }>(({ company, upload }) =>
    notifications?.send(`writers ${company} ${upload}`)
  )
  const domains = signal<string>(host => notifications?.send(`domains ${host}`))
  const companies = signal<CompanyId>(company => notifications?.send(`companies ${company}`))
  const seals = signal<CompanyId>(company => notifications?.send(`seals ${company}`))
  const missed = signal<void>()
  notifications?.listen({
    text(text) {
      // any database user can send notifications, so malformed texts are ignored
      const [name, first = '', second] = text.split(' ')
      if (name === 'domains') domains.deliver(first)
      const company = parseCompanyId(first)
      if (company && name === 'companies') companies.deliver(company)
      if (company && name === 'seals') seals.deliver(company)
      if (!company || !second) return
      if (name === 'events') events.deliver({ company, user: second })
      if (name === 'sessions') sessions.deliver({ company, user: second })
      if (name === 'writers') writers.deliver({ company, upload: second })
    },
    missed: () => missed.deliver()
  })
  const [uploads, mails] = [signal<CompanyId>(), signal<CompanyId>()]
  const [imports, registers, leaves] = [
    signal<CompanyId>(),
    signal<CompanyId>(),
    signal<CompanyId>()
  ]
  return {
    events,
    uploads,
    mails,
    imports,
    registers,
    leaves,
    seals,
    sessions,
    writers,
    domains,
    companies,
    missed
  }
}

interface BridgedSignal<T> extends ServiceSignal<T> {
  /** without telling other processes */
  deliver(value: T): void
}

function signal<T>(pass: (value: T) => void = () => undefined): BridgedSignal<T> {
  const listeners = new Set<(value: T) => void>()
  const deliver = (value: T) => {
    for (const listener of listeners) listener(value)
  }
  return {
    deliver,
    send(value) {
      deliver(value)
      pass(value)
    },
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
}
