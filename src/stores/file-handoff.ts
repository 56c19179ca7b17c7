import { personalAtom } from './personal-atoms.ts'

/** Files that were dropped or pasted on any page, on their way to the page that takes them. */
export interface FileHandoff {
  to: 'deposit' | 'verify' | 'import'
  files: readonly File[]
  unreadable: readonly string[]
  /** Number of system files in dropped folders, such as `.DS_Store`. */
  leftOut?: number
}

export const $fileHandoff = personalAtom<FileHandoff | undefined>(undefined, 'person')

const handles = new WeakMap<File, FileSystemFileHandle>()

// with its handle, an unfinished deposit can open the file after a reload
export function rememberFileHandle(file: File, handle: FileSystemFileHandle): void {
  handles.set(file, handle)
}

export function fileHandleOf(file: File): FileSystemFileHandle | undefined {
  return handles.get(file)
}

const names = new WeakMap<File, string>()

/** `path` includes the folders that were dropped or chosen: `march/bill.pdf` */
export function rememberFilePath(file: File, path: string): void {
  names.set(file, path)
}

export function filePathOf(file: File): string {
  return (names.get(file) ?? file.name).normalize('NFC')
}

export function handOffFiles(handoff: FileHandoff): void {
  if (handoff.files.length + handoff.unreadable.length + (handoff.leftOut ?? 0) > 0)
    $fileHandoff.set(handoff)
}

export function takeHandoff(to: FileHandoff['to']): FileHandoff | undefined {
  const handoff = $fileHandoff.get()
  if (handoff?.to !== to) return undefined
  $fileHandoff.set(undefined)
  return handoff
}
