import { atom, type WritableAtom } from 'nanostores'

/** `person`: until they sign out or another person signs in, for example uploads. */
type Lifetime = 'session' | 'person'

interface PersonalAtom {
  store: WritableAtom<unknown>
  initial: unknown
  lifetime: Lifetime
}

export const personalAtoms = new Set<PersonalAtom>()

/** `initial` is restored when the lifetime ends, so it must never be mutated. */
export function personalAtom<Value>(initial: Value, lifetime: Lifetime = 'session') {
  const store = atom(initial)
  // as: only `initial` is ever written through this entry
  personalAtoms.add({ store: store as WritableAtom<unknown>, initial, lifetime })
  return store
}

/** `person` also resets the stores with the lifetime `session`. */
export function resetPersonalAtoms(ended: Lifetime): void {
  for (const { store, initial, lifetime } of personalAtoms) {
    if (lifetime === 'session' || ended === 'person') store.set(initial)
  }
}
