import { useState } from 'react'
import { AppError } from '../../contract/kit/errors.ts'
import { type Difference, differencesOf } from '../../core/differences.ts'

interface Versioned {
  version: number
}

export interface VersionedSaveOptions<Entity, Changes> {
  /** Throws `changed_meanwhile` unless the stored item still has the version. */
  save: (changes: Changes, version: number) => Promise<void>
  load: () => Promise<Entity>
}

interface Conflict<Entity, Changes> {
  theirs: Entity
  changes: Changes
  differences: Difference<keyof Entity & string>[]
}

/**
 * Keeps what others have changed in other fields. Where they have changed the same, `conflict` has
 * the differences until `resolve()`.
 */
export function useVersionedSave<Entity extends Versioned, Changes extends Partial<Entity>>({
  save,
  load
}: VersionedSaveOptions<Entity, Changes>) {
  const [conflict, setConflict] = useState<Conflict<Entity, Changes>>()

  const change = async (was: Entity, changes: Changes): Promise<void> => {
    try {
      await save(changes, was.version)
      setConflict(undefined)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'changed_meanwhile') throw error
      const theirs = await load()
      const differences = differencesOf(was, changes, theirs)
      // others have changed other fields only, and these stay as they are
      if (differences.every(({ changedBy }) => changedBy === 'me')) await change(theirs, changes)
      else setConflict({ theirs, changes, differences })
    }
  }

  return {
    change,
    conflict,
    // the other fields keep what is stored
    async resolve(mine: readonly string[]): Promise<void> {
      if (!conflict) return
      const { theirs, changes } = conflict
      const entries = Object.entries(changes).filter(([name]) => mine.includes(name))
      if (entries.length === 0) setConflict(undefined)
      else await change(theirs, Object.fromEntries(entries) as Changes) // as: a part of them
    }
  }
}
