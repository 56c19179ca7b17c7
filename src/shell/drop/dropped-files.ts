import { isSystemFile, pathInFolder } from '../../core/files/folder-files.ts'
import { pagePath } from '../../core/pages/page-table.ts'
import { localizedPath } from '../../i18n/index.ts'
import { pageLocale } from '../kit/page.ts'
import { companyIdOfUsersPage, type DropAction } from './drop-actions.ts'

interface Dropped {
  files: File[]
  /** Paths of files and folders that could not be read. */
  unreadable: string[]
  /** Number of system files in the folders, such as `.DS_Store`. They are not in `files`. */
  leftOut: number
  /** Path of each file that was in a dropped folder, without the name of this folder. */
  names: Map<File, string>
  /** To open the files again after a reload. Only some browsers provide them. */
  handles: Map<File, FileSystemFileHandle>
}

/** Read during the event, because the browser empties its list of items afterwards. */
export interface DroppedItem {
  entry: FileSystemEntry | null
  file: File | null
  handle: Promise<FileSystemFileHandle | undefined>
}

/**
 * Passes the files, including those in folders, to the page that deposits, verifies or imports
 * them.
 */
export async function handOffDroppedItems(
  to: DropAction,
  items: readonly DroppedItem[]
): Promise<void> {
  const [{ files, unreadable, leftOut, names, handles }, handoff] = await Promise.all([
    filesOf(items),
    import('../../stores/file-handoff.ts')
  ])
  for (const [file, handle] of handles) handoff.rememberFileHandle(file, handle)
  for (const [file, name] of names) handoff.rememberFilePath(file, name)
  if (files.length + unreadable.length + leftOut === 0) return
  handoff.handOffFiles({ to, files, unreadable, leftOut })
  const path = localizedPath(pageLocale(), pathFor(to))
  if (location.pathname.replace(/\/$/, '') === path) return
  const { navigate } = await import('../../stores/navigation.ts')
  await navigate(path)
}

function pathFor(to: DropAction): string {
  return to === 'import'
    ? pagePath('importUsers', { company: companyIdOfUsersPage() ?? '' })
    : `/${to}`
}

async function filesOf(items: readonly DroppedItem[]): Promise<Dropped> {
  const dropped: Dropped = {
    files: [],
    unreadable: [],
    leftOut: 0,
    names: new Map(),
    handles: new Map()
  }
  for (const { entry, file, handle } of items) {
    if (entry?.isDirectory) await walk(entry, dropped)
    else if (file) {
      dropped.files.push(file)
      const lasting = await handle
      if (lasting) dropped.handles.set(file, lasting)
    }
  }
  return dropped
}

// adds what cannot be read to `unreadable`, and continues
async function walk(entry: FileSystemEntry, dropped: Dropped): Promise<void> {
  try {
    if (isFile(entry)) {
      if (isSystemFile(entry.fullPath)) {
        dropped.leftOut += 1
        return
      }
      const file = await new Promise<File>((done, fail) => entry.file(done, fail))
      dropped.files.push(file)
      dropped.names.set(file, pathInFolder(entry.fullPath))
    } else if (isFolder(entry)) {
      for (const child of await childrenOf(entry)) await walk(child, dropped)
    }
  } catch {
    dropped.unreadable.push(entry.fullPath.replace(/^\//, ''))
  }
}

async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const children: FileSystemEntry[] = []
  for (;;) {
    // a reader answers at most 100 entries a call
    const some = await new Promise<FileSystemEntry[]>((done, fail) => {
      reader.readEntries(done, fail)
    })
    if (some.length === 0) return children
    children.push(...some)
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}
