import type { FoundItem } from './company-search.ts'
import { personalAtom } from './personal-atoms.ts'

/** A command that the person has chosen in the command palette. */
export interface RecentCommand {
  id: string
  /**
   * The person, group or other item whose page the command opens. Absent for commands that open a
   * fixed page or run an action, because the palette finds these by their id.
   */
  item?: FoundItem | undefined
}

const most = 5

/**
 * The commands that the person has chosen in this tab, latest first. They contain names of people
 * and groups, so they are not written to the browser's storage.
 */
export const $recentCommands = personalAtom<readonly RecentCommand[]>([])

/** Puts a command at the top of `$recentCommands`. */
export function rememberCommand(command: RecentCommand): void {
  const others = $recentCommands.get().filter(({ id }) => id !== command.id)
  $recentCommands.set([command, ...others].slice(0, most))
}
