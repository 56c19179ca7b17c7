import { atom } from 'nanostores'

/** Files that were dropped or pasted on any page, for the page that works with them. */
export interface FileHandoff {
  to: 'deposit' | 'verify'
  files: readonly File[]
  /** Names of the entries that could not be read. */
  unreadable: readonly string[]
  /** Number of system files in folders, which are left out. */
  leftOut?: number
}

export const $fileHandoff = atom<FileHandoff | undefined>(undefined)

const handles = new WeakMap<File, FileSystemFileHandle>()

/** Keeps the handle that the browser gave with a dropped file: it can open the file after a reload. */
export function keepHandle(file: File, handle: FileSystemFileHandle): void {
  handles.set(file, handle)
}

export function handleOf(file: File): FileSystemFileHandle | undefined {
  return handles.get(file)
}

const names = new WeakMap<File, string>()

/** Keeps the name of a file with the folders in which it came. */
export function keepName(file: File, name: string): void {
  names.set(file, name)
}

export function fileName(file: File): string {
  return (names.get(file) ?? file.name).normalize('NFC')
}

export function handOffFiles(handoff: FileHandoff): void {
  if (handoff.files.length + handoff.unreadable.length + (handoff.leftOut ?? 0) > 0)
    $fileHandoff.set(handoff)
}

/** Returns the files for this page, once. */
export function takeHandoff(to: FileHandoff['to']): FileHandoff | undefined {
  const handoff = $fileHandoff.get()
  if (handoff?.to !== to) return undefined
  $fileHandoff.set(undefined)
  return handoff
}
