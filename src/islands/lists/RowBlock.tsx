import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

interface RowBlockProps {
  /**
   * Whether the rows are drawn even far outside the window, because one of them has the focus or
   * gets it next.
   */
  isAlwaysDrawn: boolean
  onKeyDown: (event: KeyboardEvent) => void
  children: () => ReactNode
}

/**
 * Rows up to this distance from the window are drawn, too, so that quick scrolling shows no gap.
 */
const margin = '1000px 0px'

/**
 * Consecutive rows of a table. While they are far outside the window, one empty row of the same
 * height replaces them.
 */
export function RowBlock({ isAlwaysDrawn, onKeyDown, children }: RowBlockProps) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [farHeight, setFarHeight] = useState<number>()
  useEffect(() => {
    const watching = new IntersectionObserver(
      entries => {
        const last = entries.at(-1)
        if (last) setFarHeight(last.isIntersecting ? undefined : last.boundingClientRect.height)
      },
      { rootMargin: margin }
    )
    if (body.current) watching.observe(body.current)
    // paper shows all rows; synchronously, because the browser prints right after the event
    const draw = () => flushSync(() => setFarHeight(undefined))
    addEventListener('beforeprint', draw)
    return () => {
      watching.disconnect()
      removeEventListener('beforeprint', draw)
    }
  }, [])
  const isDrawn = isAlwaysDrawn || farHeight === undefined
  return (
    <tbody ref={body} onKeyDown={onKeyDown}>
      {isDrawn ? (
        children()
      ) : (
        <tr>
          <td aria-hidden="true" height={farHeight} />
        </tr>
      )}
    </tbody>
  )
}
