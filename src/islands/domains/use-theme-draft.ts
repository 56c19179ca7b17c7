import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { DomainThemes, ThemeChanges } from '../../contract/domains.ts'
import type { FieldError } from '../../contract/kit/errors.ts'
import { isSameJson } from '../../core/differences.ts'
import {
  $themes,
  type EditedTheme,
  reloadThemes,
  saveThemeDraft,
  themeToEdit
} from '../../stores/admin/domains.ts'
import { useVersionedSave } from '../forms/use-versioned-save.ts'
import { useAction } from '../kit/use-action.ts'
import { type ThemePart, themeParts } from './theme-words.ts'

const pauseMs = 600

export type ThemeDraft = ReturnType<typeof useThemeDraft>

type Refused = Partial<Record<ThemePart, FieldError>>

/**
 * Saves the edited theme as a draft shortly after each change. Saves nothing during a `conflict`.
 */
export function useThemeDraft(id: string, themes: DomainThemes) {
  const [look, setLook] = useState(() => themeToEdit(themes))
  const [refused, setRefused] = useState<Refused>({})
  // the stored theme on which the unsaved changes are based
  const seen = useRef(look)
  const latest = useRef(look)
  // false if the last call of `change()` found a conflict
  const isSaved = useRef(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  const show = (next: EditedTheme) => {
    latest.current = next
    setLook(next)
  }
  const stored = () => {
    const state = $themes.get()
    return state.status === 'ready' ? themeToEdit(state.item) : seen.current
  }
  const { change, conflict, resolve } = useVersionedSave<EditedTheme, Partial<EditedTheme>>({
    async save(changes, version) {
      await saveThemeDraft(id, changes as ThemeChanges, version)
      isSaved.current = true
    },
    load: async () => themeToEdit(await reloadThemes(id))
  })

  const saving = useAction({
    what: 'Saving the draft failed',
    async send(changes: Partial<EditedTheme>) {
      isSaved.current = false
      await change(seen.current, changes)
      if (!isSaved.current) return
      const now = stored()
      // what was changed while it was being saved stays
      const newer = changedParts(latest.current, { ...seen.current, ...changes })
      seen.current = now
      show({ ...now, ...newer })
      if (Object.keys(newer).length > 0) schedule()
    },
    handle(error) {
      if (error.code !== 'svg_refused') return false
      const found = themeParts.flatMap(part => {
        const field = error.fields?.[part]
        return field ? [[part, field] as const] : []
      })
      const kept = Object.fromEntries(found.map(([part]) => [part, seen.current[part]]))
      show({ ...latest.current, ...kept })
      setRefused(before => ({ ...before, ...Object.fromEntries(found) }))
      // saves the parts that were not refused
      schedule()
      return true
    }
  })

  const save = async () => {
    clearTimeout(timer.current)
    const changes = changedParts(latest.current, seen.current)
    if (Object.keys(changes).length > 0) await saving.start(changes)
  }
  const saveNow = useEffectEvent(() => void save())
  function schedule() {
    clearTimeout(timer.current)
    timer.current = setTimeout(saveNow, pauseMs)
  }
  // the page is left before the pause is over
  useEffect(() => () => saveNow(), [])

  return {
    look,
    refused,
    conflict,
    failure: saving.failure,
    version: () => stored().version,
    isSaving: saving.isWorking || Object.keys(changedParts(look, seen.current)).length > 0,
    save,
    change(changes: Partial<EditedTheme>) {
      setRefused(before => {
        const others = Object.entries(before).filter(([part]) => !(part in changes))
        return Object.fromEntries(others)
      })
      show({ ...latest.current, ...changes })
      if (!conflict) schedule()
    },
    async resolve(mine: readonly string[]) {
      await resolve(mine)
      seen.current = stored()
      show(seen.current)
    },
    reset() {
      clearTimeout(timer.current)
      seen.current = stored()
      show(seen.current)
      setRefused({})
    }
  }
}

function changedParts(look: EditedTheme, from: EditedTheme): Partial<EditedTheme> {
  const parts = themeParts.filter(part => !isSameJson(look[part], from[part]))
  return Object.fromEntries(parts.map(part => [part, look[part]]))
}
