/** A field of a thing that somebody else has changed while it was being edited. */
export interface Difference<Name extends string = string> {
  name: Name
  mine: unknown
  theirs: unknown
  /** Who has changed the field since the editing began. */
  changedBy: 'me' | 'them' | 'both'
}

/**
 * Compares the values to be saved with what is stored now, by what was stored when the editing
 * began. Returns the fields in which they differ. Fields that neither `mine` names nor anybody has
 * changed are left out.
 */
export function differencesOf<Values extends object>(
  was: Values,
  mine: Partial<Values>,
  theirs: Values
): Difference<keyof Values & string>[] {
  const names = Object.keys(mine) as (keyof Values & string)[] // as: an object of these keys
  return names.flatMap(name => {
    if (isSame(mine[name], theirs[name])) return []
    const changedBy = isSame(was[name], theirs[name])
      ? 'me'
      : isSame(was[name], mine[name])
        ? 'them'
        : 'both'
    return [{ name, mine: mine[name], theirs: theirs[name], changedBy }]
  })
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
