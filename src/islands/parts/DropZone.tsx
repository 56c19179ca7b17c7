import { type ReactNode, useEffect, useId, useRef, useState } from 'react'

interface DropZoneProps {
  label: string
  hint: string
  onFiles: (files: File[]) => void
  multiple?: boolean
  busy?: boolean
  /** Drawn above the label: an idle seal. */
  children?: ReactNode
}

/**
 * A labelled file input that also takes files dropped or pasted anywhere on the page, folders
 * included, and the files that were chosen before the page had its script.
 */
export function DropZone({ label, hint, onFiles, multiple, busy, children }: DropZoneProps) {
  const input = useRef<HTMLInputElement>(null)
  const take = useRef(onFiles)
  const [over, setOver] = useState(false)
  const hintId = useId()
  const closed = busy === true
  const many = multiple === true

  useEffect(() => {
    take.current = onFiles
  })

  useEffect(() => {
    if (closed) return
    const offer = (files: File[]) => {
      const taken = many ? files : files.slice(0, 1)
      if (taken.length > 0) take.current(taken)
    }
    if (input.current?.files?.length) {
      offer([...input.current.files])
      input.current.value = ''
    }
    return listen(offer, setOver)
  }, [closed, many])

  return (
    <label
      className={`flex min-h-56 cursor-pointer flex-col items-center justify-center gap-3 rounded-box border-2 border-dashed p-6 text-center transition-colors duration-100 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-base-content ${over ? 'border-secondary bg-base-200' : 'border-(--line) hover:border-secondary'} ${closed ? 'cursor-progress' : ''}`}
      aria-busy={closed}
      data-over={over}
    >
      {children}
      <span className="font-semibold text-lg">{label}</span>
      <span id={hintId} className="max-w-prose text-ink-soft text-sm">
        {hint}
      </span>
      <input
        ref={input}
        type="file"
        className="sr-only"
        multiple={many}
        disabled={closed}
        aria-describedby={hintId}
        onChange={event => {
          const chosen = [...(event.currentTarget.files ?? [])]
          event.currentTarget.value = ''
          if (chosen.length > 0) onFiles(chosen)
        }}
      />
    </label>
  )
}

/** Drops and pastes of files on the whole window; a drop outside any target must not leave the page. */
function listen(offer: (files: File[]) => void, setOver: (over: boolean) => void): () => void {
  const stop = new AbortController()
  const { signal } = stop
  const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true

  addEventListener(
    'dragover',
    event => {
      if (!carriesFiles(event)) return
      event.preventDefault()
      setOver(true)
    },
    { signal }
  )
  addEventListener(
    'dragleave',
    event => {
      if (event.relatedTarget === null) setOver(false)
    },
    { signal }
  )
  addEventListener(
    'drop',
    event => {
      setOver(false)
      if (!carriesFiles(event) || event.defaultPrevented || !event.dataTransfer) return
      event.preventDefault()
      void filesOf(event.dataTransfer).then(offer)
    },
    { signal }
  )
  addEventListener(
    'paste',
    event => {
      const files = [...(event.clipboardData?.files ?? [])]
      if (files.length === 0 || event.defaultPrevented) return
      event.preventDefault()
      offer(files)
    },
    { signal }
  )
  return () => stop.abort()
}

async function filesOf(transfer: DataTransfer): Promise<File[]> {
  // entries must be asked for before the first await: the list is emptied when the event ends
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry())
  const plain = [...transfer.files]
  if (!entries.some(entry => entry?.isDirectory)) return plain
  const found = await Promise.allSettled(entries.map(entry => (entry ? walk(entry) : [])))
  // a folder that cannot be read gives nothing; the others of the same drop still go
  return found.flatMap(walked => (walked.status === 'fulfilled' ? walked.value : []))
}

async function walk(entry: FileSystemEntry): Promise<File[]> {
  if (isFile(entry)) return [await new Promise<File>((done, fail) => entry.file(done, fail))]
  if (!isFolder(entry)) return []
  const reader = entry.createReader()
  const files: File[] = []
  for (;;) {
    // a reader answers at most 100 entries per call
    const entries = await new Promise<FileSystemEntry[]>((done, fail) => {
      reader.readEntries(done, fail)
    })
    if (entries.length === 0) return files
    for (const child of entries) files.push(...(await walk(child)))
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}
