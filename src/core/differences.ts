export interface Difference<Name extends string = string> {
  name: Name
  mine: unknown
  theirs: unknown
  changedBy: 'me' | 'them' | 'both'
}

/**
 * Returns the fields in which `mine`, to be saved, differs from `theirs`, now stored. `was` is what
 * was stored when the person began, and tells who changed a field since.
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

export function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
