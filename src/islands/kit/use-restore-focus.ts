import { type RefObject, useEffect, useRef } from 'react'

/**
 * Returns the ref of a button that is replaced by what it opens, such as a form. When `isReplaced`
 * becomes false again, focuses the button, unless the person has focused something else.
 */
export function useRestoreFocus(isReplaced: boolean): RefObject<HTMLButtonElement | null> {
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
