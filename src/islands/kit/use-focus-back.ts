import { type RefObject, useEffect, useRef } from 'react'

/**
 * Returns the reference for a button that opens a part in its place, such as a form. When the part
 * is closed, the button gets the focus, unless the person has moved the focus elsewhere meanwhile.
 */
export function useFocusBack(isReplaced: boolean): RefObject<HTMLButtonElement | null> {
  const opener = useRef<HTMLButtonElement>(null)
  const wasReplaced = useRef(false)
  // an effect, because the button is drawn again only after the part was closed
  useEffect(() => {
    const isLost = document.activeElement === document.body
    if (wasReplaced.current && !isReplaced && isLost) opener.current?.focus()
    wasReplaced.current = isReplaced
  }, [isReplaced])
  return opener
}
