import { atom } from 'nanostores'

/** Files that were dropped or pasted anywhere, on their way to the page that takes them. */
export interface FileHandoff {
  to: 'deposit' | 'verify'
  files: readonly File[]
  /** Names of what could not be read. */
  unreadable: readonly string[]
  /** How many system files of folders were left out. */
  leftOut?: number
}

export const $fileHandoff = atom<FileHandoff | undefined>(undefined)

const handles = new WeakMap<File, FileSystemFileHandle>()

/** Keeps the lasting way to a file, where the browser gave one with the drop. */
export function keepHandle(file: File, handle: FileSystemFileHandle): void {
  handles.set(file, handle)
}

export function handleOf(file: File): FileSystemFileHandle | undefined {
  return handles.get(file)
}

const names = new WeakMap<File, string>()

/** Keeps the name that a file has within its folder. */
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

/** What waits for this page, once. */
export function takeHandoff(to: FileHandoff['to']): FileHandoff | undefined {
  const handoff = $fileHandoff.get()
  if (handoff?.to !== to) return undefined
  $fileHandoff.set(undefined)
  return handoff
}
