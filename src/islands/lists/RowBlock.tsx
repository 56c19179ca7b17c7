import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

interface RowBlockProps {
  /** One of the rows has the focus or gets it next. */
  isAlwaysDrawn: boolean
  onKeyDown: (event: KeyboardEvent) => void
  children: () => ReactNode
}

// drawn too, so that quick scrolling shows no gap
const margin = '1000px 0px'

// one empty row of the same height replaces rows far outside the window
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
