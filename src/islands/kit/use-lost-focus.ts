import { type RefObject, useEffect, useEffectEvent, useRef } from 'react'

/**
 * Runs `refocus` after a render that has removed the focused element from `part`, such as a button
 * that is no longer needed. Otherwise the browser would move the focus to the top of the document.
 */
export function useLostFocus(part: RefObject<HTMLElement | null>, refocus: () => void): void {
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
