import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DropZoneProps {
  label: string
  hint: string
  onFiles: (files: File[]) => void
  multiple?: boolean
  /** Drawn above the label: an idle seal. */
  children?: ReactNode
}

/**
 * A labelled file input, and the files that were chosen before the page had its script. Files that are
 * dropped or pasted anywhere come through `stores/offers.ts`.
 */
export function DropZone({ label, hint, onFiles, multiple, children }: DropZoneProps) {
  const input = useRef<HTMLInputElement>(null)
  const take = useRef(onFiles)
  const hintId = useId()

  useEffect(() => {
    take.current = onFiles
  })

  useEffect(() => {
    if (!input.current?.files?.length) return
    take.current([...input.current.files])
    input.current.value = ''
  }, [])

  return (
    <label className="flex min-h-56 cursor-pointer flex-col items-center justify-center gap-3 rounded-box border-2 border-dashed p-6 text-center transition-colors duration-100 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-base-content border-(--line) hover:border-secondary">
      {children}
      <span className="font-semibold text-lg">{label}</span>
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
