import { type RefObject, useEffect, useRef } from 'react'

/**
 * Returns the ref of a button that what it opens replaces. The button gets the focus again
 * afterwards.
 */
export function useRestoreFocus(isButtonReplaced: boolean): RefObject<HTMLButtonElement | null> {
  const opener = useRef<HTMLButtonElement>(null)
  const wasReplaced = useRef(false)
  // an effect, because the button is drawn again only after the part was closed
  useEffect(() => {
    const isLost = document.activeElement === document.body
    if (wasReplaced.current && !isButtonReplaced && isLost) opener.current?.focus()
    wasReplaced.current = isButtonReplaced
  }, [isButtonReplaced])
  return opener
}
