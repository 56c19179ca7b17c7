import { type ReactNode, useEffect, useEffectEvent, useId, useRef } from 'react'
import type { FileHandoff } from '../../stores/file-handoff.ts'

interface DropZoneProps {
  to: FileHandoff['to']
  label: string
  /** Label on phones, where nothing can be dropped. */
  touchLabel?: string
  hint: string
  onFiles: (files: File[]) => void
  multiple?: boolean
  children?: ReactNode
}

/**
 * Does not call `onFiles` with dropped or pasted files: `useOnFilesReceived()` gives these to the
 * page.
 */
export function DropZone({
  to,
  label,
  touchLabel = label,
  hint,
  onFiles,
  multiple,
  children
}: DropZoneProps) {
  const input = useRef<HTMLInputElement>(null)
  const hintId = useId()

  const takeEarly = useEffectEvent(() => {
    if (!input.current?.files?.length) return
    onFiles([...input.current.files])
    input.current.value = ''
  })
  useEffect(() => takeEarly(), [])

  return (
    <label
      data-drop-zone={to}
      className="flex min-h-56 cursor-pointer flex-col items-center justify-center gap-3 rounded-box border-2 border-dashed p-6 text-center transition-colors duration-100 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-base-content border-(--line) hover:border-secondary"
    >
      {children}
      <span className="font-semibold text-lg max-sm:hidden">{label}</span>
      <span className="font-semibold text-lg sm:hidden">{touchLabel}</span>
      <span id={hintId} className="max-w-prose text-ink-soft text-sm">
        {hint}
      </span>
      <input
        ref={input}
        type="file"
        className="sr-only"
        multiple={multiple}
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
