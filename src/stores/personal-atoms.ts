import { atom, type WritableAtom } from 'nanostores'

/**
 * How long a store keeps the data of a person. `session`: until the session ends for any reason.
 * `person`: until the person signs out or another person signs in. Such data, for example uploads,
 * stays when the session expires.
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
 * Creates a store for data of the signed-in person. At the end of `lifetime`, the store is reset to
 * `initial`, so `initial` must never be mutated.
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
