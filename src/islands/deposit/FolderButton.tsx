import { isSystemFile, pathInFolder } from '../../core/files/folder-files.ts'
import { rememberFilePath } from '../../stores/file-handoff.ts'

interface FolderButtonProps {
  label: string
  onFiles: (files: File[], leftOut: number) => void
}

export function FolderButton({ label, onFiles }: FolderButtonProps) {
  return (
    <label className="btn btn-sm justify-self-start max-sm:hidden has-focus-visible:outline-2 has-focus-visible:outline-offset-2">
      {label}
      <input
        type="file"
        className="sr-only"
        multiple
        // spread, because React's types do not know it
        {...{ webkitdirectory: '' }}
        onChange={event => {
          const all = [...(event.currentTarget.files ?? [])]
          event.currentTarget.value = ''
          const files = all.filter(file => !isSystemFile(file.webkitRelativePath))
          for (const file of files) rememberFilePath(file, pathInFolder(file.webkitRelativePath))
          if (all.length > 0) onFiles(files, all.length - files.length)
        }}
      />
    </label>
  )
}
