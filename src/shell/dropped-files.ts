import { isSystemFile, nameInFolder } from '../core/folder-files.ts'

export interface Dropped {
  files: File[]
  /** Paths of what could not be read. */
  unreadable: string[]
  /** How many system files of folders were left out. */
  leftOut: number
  /** What files of folders are called within them. */
  names: Map<File, string>
  /** Lasting ways to files, where the browser gives them. */
  handles: Map<File, FileSystemFileHandle>
}

/** The files of a drop or paste, those of folders included. */
export async function filesOf(transfer: DataTransfer): Promise<Dropped> {
  const dropped: Dropped = {
    files: [],
    unreadable: [],
    leftOut: 0,
    names: new Map(),
    handles: new Map()
  }
  // everything is asked for before the first await: the list is emptied when the event ends
  const items = [...transfer.items].filter(({ kind }) => kind === 'file').map(look)
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

function look(item: DataTransferItem) {
  return { entry: item.webkitGetAsEntry(), file: item.getAsFile(), handle: handleOf(item) }
}

async function handleOf(item: DataTransferItem): Promise<FileSystemFileHandle | undefined> {
  if (!('getAsFileSystemHandle' in item)) return undefined
  try {
    // as: Chromium has it, the library of types has not
    const { getAsFileSystemHandle } = item as { getAsFileSystemHandle: () => Promise<unknown> }
    const handle = await getAsFileSystemHandle.call(item)
    return handle instanceof FileSystemFileHandle ? handle : undefined
  } catch {
    return undefined // files that are not on the disk, such as pasted pictures, have none
  }
}

/** A folder that cannot be read is named; the others of the same drop still go. */
async function walk(entry: FileSystemEntry, dropped: Dropped): Promise<void> {
  try {
    if (isFile(entry)) {
      if (isSystemFile(entry.fullPath)) {
        dropped.leftOut += 1
        return
      }
      const file = await new Promise<File>((done, fail) => entry.file(done, fail))
      dropped.files.push(file)
      dropped.names.set(file, nameInFolder(entry.fullPath))
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
