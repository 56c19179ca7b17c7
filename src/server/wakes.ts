import type { Signal, Wakes } from './domain/deps.ts'

/** Signals between the parts of one process. */
export function createWakes(): Wakes {
  return { events: signal(), uploads: signal(), sessions: signal(), domains: signal() }
}

function signal<T>(): Signal<T> {
  const listeners = new Set<(value: T) => void>()
  return {
    send(value) {
      for (const listener of listeners) listener(value)
    },
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
}
