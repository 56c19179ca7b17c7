import { atom, type WritableAtom } from 'nanostores'

/**
 * How long a store keeps the data of a person. `session`: until the session ends, for whatever reason.
 * `person`: also while a session that has expired waits for the same person to sign in again, as
 * uploads do. It ends when they sign out or somebody else signs in.
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
 * Creates a store of a person's data. The end of the session sets it to `initial`, so no store has to
 * be named anywhere for that. `initial` must never be changed in place.
 */
export function personalAtom<Value>(initial: Value, lifetime: Lifetime = 'session') {
  const store = atom(initial)
  // as: only `initial` is ever written through this entry
  personalAtoms.add({ store: store as WritableAtom<unknown>, initial, lifetime })
  return store
}

/** Empties the stores that last as long as the session, or with `person` all of them. */
export function emptyPersonalAtoms(ended: Lifetime): void {
  for (const { store, initial, lifetime } of personalAtoms) {
    if (lifetime === 'session' || ended === 'person') store.set(initial)
  }
}
