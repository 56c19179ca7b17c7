import { atom, type WritableAtom } from 'nanostores'

/**
 * How long a store keeps the data of a person. `session`: until the session ends for any reason.
 * `person`: until the person signs out or another person signs in, so the data of an expired
 * session stays, as uploads do.
 */
type Lifetime = 'session' | 'person'

interface PersonalAtom {
  store: WritableAtom<unknown>
  initial: unknown
  lifetime: Lifetime
}

/** All stores that `personalAtom()` has created. */
export const personalAtoms = new Set<PersonalAtom>()

/**
 * Creates a store of a person's data. When the data must be dropped, the store is set to `initial`
 * automatically. `initial` must never be changed in place.
 */
export function personalAtom<Value>(initial: Value, lifetime: Lifetime = 'session') {
  const store = atom(initial)
  // as: only `initial` is ever written through this entry
  personalAtoms.add({ store: store as WritableAtom<unknown>, initial, lifetime })
  return store
}

/**
 * Resets stores to their initial values. `session` resets the stores with this lifetime; `person`
 * resets all stores.
 */
export function resetPersonalAtoms(ended: Lifetime): void {
  for (const { store, initial, lifetime } of personalAtoms) {
    if (lifetime === 'session' || ended === 'person') store.set(initial)
  }
}
