import type { Hints } from './db/hints.ts'
import { parseCompanyId } from './db/scope.ts'
import type { PersonKey, Signal, Wakes } from './domain/deps.ts'

/**
 * Signals between the parts of one process. With `hints`, news of events, sessions and domains also
 * reach the other processes on the database. Uploads and mails do not: whoever took one goes on with it.
 */
export function createWakes(hints?: Pick<Hints, 'send' | 'hear'>): Wakes {
  const events = signal<PersonKey>(key => hints?.send(`events ${key.company} ${key.user}`))
  const sessions = signal<PersonKey>(key => hints?.send(`sessions ${key.company} ${key.user}`))
  const domains = signal<string>(host => hints?.send(`domains ${host}`))
  const missed = signal<void>()
  hints?.hear({
    text(text) {
      // whoever may use the database may say anything: what makes no sense is not for us
      const [name, first = '', user] = text.split(' ')
      if (name === 'domains') domains.deliver(first)
      const company = parseCompanyId(first)
      if (!company || !user) return
      if (name === 'events') events.deliver({ company, user })
      if (name === 'sessions') sessions.deliver({ company, user })
    },
    missed: () => missed.deliver()
  })
  return { events, uploads: signal(), mails: signal(), sessions, domains, missed }
}

interface BridgedSignal<T> extends Signal<T> {
  /** Tells the listeners of this process alone. */
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
