import { personalAtom } from './personal-atoms.ts'

/**
 * Files that were dropped or pasted on any page, on their way to the page that deposits, verifies
 * or imports them.
 */
export interface FileHandoff {
  to: 'deposit' | 'verify' | 'import'
  files: readonly File[]
  /** Names of the files and folders that could not be read. */
  unreadable: readonly string[]
  /** Number of system files in dropped folders, such as `.DS_Store`. They are not in `files`. */
  leftOut?: number
}

/**
 * The dropped or pasted files that wait until their page takes them. Undefined if there are none.
 */
export const $fileHandoff = personalAtom<FileHandoff | undefined>(undefined, 'person')

const handles = new WeakMap<File, FileSystemFileHandle>()

/**
 * Stores the handle of a file until the page is closed or reloaded. The browser gives the handle
 * with a dropped file. An unfinished deposit also saves it, to open the file after a reload.
 */
export function rememberFileHandle(file: File, handle: FileSystemFileHandle): void {
  handles.set(file, handle)
}

/** Returns the stored handle of a file. Undefined if the browser gave none. */
export function fileHandleOf(file: File): FileSystemFileHandle | undefined {
  return handles.get(file)
}

const names = new WeakMap<File, string>()

/**
 * Stores the path of a file inside the folder that was dropped or chosen, such as `march/bill.pdf`.
 */
export function rememberFilePath(file: File, path: string): void {
  names.set(file, path)
}

/**
 * Returns the path of a file inside the folder that was dropped or chosen. For a file that was not
 * in a folder, returns its name.
 */
export function filePathOf(file: File): string {
  return (names.get(file) ?? file.name).normalize('NFC')
}

/** Passes files to the page that takes them with `takeHandoff()`. */
export function handOffFiles(handoff: FileHandoff): void {
  if (handoff.files.length + handoff.unreadable.length + (handoff.leftOut ?? 0) > 0)
    $fileHandoff.set(handoff)
}

/**
 * Returns the waiting files if they are for the page `to`, and removes them. Otherwise returns
 * undefined.
 */
export function takeHandoff(to: FileHandoff['to']): FileHandoff | undefined {
  const handoff = $fileHandoff.get()
  if (handoff?.to !== to) return undefined
  $fileHandoff.set(undefined)
  return handoff
}
