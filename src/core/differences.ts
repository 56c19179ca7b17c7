/** A field whose value to save (`mine`) differs from the stored value (`theirs`). */
export interface Difference<Name extends string = string> {
  name: Name
  mine: unknown
  theirs: unknown
  /**
   * Who has changed the field since the person began to edit: the person, somebody else, or both.
   */
  changedBy: 'me' | 'them' | 'both'
}

/**
 * Returns the fields whose value in `mine` differs from the value in `theirs`. `mine` has the
 * values that a person wants to save, and `theirs` the values that are stored now. `was` has the
 * values that were stored when the person began to edit. A comparison with `was` tells who has
 * changed a field since then (`changedBy`).
 */
export function differencesOf<Values extends object>(
  was: Values,
  mine: Partial<Values>,
  theirs: Values
): Difference<keyof Values & string>[] {
  const names = Object.keys(mine) as (keyof Values & string)[] // as: an object of these keys
  return names.flatMap(name => {
    if (isSameJson(mine[name], theirs[name])) return []
    const changedBy = isSameJson(was[name], theirs[name])
      ? 'me'
      : isSameJson(was[name], mine[name])
        ? 'them'
        : 'both'
    return [{ name, mine: mine[name], theirs: theirs[name], changedBy }]
  })
}

/** Returns whether two values are the same as JSON. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
