import { type RefObject, useEffect, useEffectEvent, useRef } from 'react'

/** Runs `refocus` when a render has removed the focused element from `part`. */
export function useOnFocusedElementRemoved(
  part: RefObject<HTMLElement | null>,
  refocus: () => void
): void {
  const focused = useRef<Node>(undefined)
  const run = useEffectEvent(refocus)
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      const isInside = target instanceof Node && part.current?.contains(target)
      focused.current = isInside ? target : undefined
    }
    document.addEventListener('focusin', note)
    return () => document.removeEventListener('focusin', note)
  }, [part])
  useEffect(() => {
    const isGone = focused.current?.isConnected === false
    if (isGone && document.activeElement === document.body) run()
  })
}
