import { useStore } from '@nanostores/react'
import { useEffect, useEffectEvent, useState } from 'react'
import { $fileHandoff, type FileHandoff, takeHandoff } from '../../stores/file-handoff.ts'

/**
 * Calls `onFiles` with what was dropped, pasted or chosen on any page. Returns the names of
 * unreadable files.
 */
export function useOnFilesReceived(
  to: FileHandoff['to'],
  onFiles: (files: File[], leftOut: number) => void
): readonly string[] {
  const handoff = useStore($fileHandoff, { ssr: 'initial' })
  const take = useEffectEvent(onFiles)
  const [unreadable, setUnreadable] = useState<readonly string[]>([])

  useEffect(() => {
    if (handoff?.to !== to) return
    const taken = takeHandoff(to)
    if (!taken) return
    setUnreadable(taken.unreadable)
    const { files, leftOut = 0 } = taken
    if (files.length + leftOut > 0) take([...files], leftOut)
  }, [handoff, to])

  return unreadable
}
