import type { FoundItem } from './company-search.ts'
import { personalAtom } from './personal-atoms.ts'

export interface RecentCommand {
  id: string
  /** Absent for commands that the palette finds by their id. */
  item?: FoundItem | undefined
}

const most = 5

// names of people and groups, so they are not written to the browser's storage
export const $recentCommands = personalAtom<readonly RecentCommand[]>([])

export function rememberCommand(command: RecentCommand): void {
  const others = $recentCommands.get().filter(({ id }) => id !== command.id)
  $recentCommands.set([command, ...others].slice(0, most))
}
