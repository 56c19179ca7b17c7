import { type RefObject, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import {
  type LinePositions,
  measureLines,
  visibleLineRange
} from '../../core/pages/visible-lines.ts'
import type { HistoryLine } from './history-days.ts'

// drawn too, so that quick scrolling shows no gap
const marginPx = 800

export function useRowWindow(root: RefObject<HTMLElement | null>, lines: readonly HistoryLine[]) {
  const heights = useHeights(root)
  const measured = useMemo(
    () => measureLines(lines.length, at => (lines[at]?.request ? heights.row : heights.day)),
    [lines, heights]
  )
  const visible = useVisibleLines(root, measured)
  // paper shows all lines
  const { start, end } = usePrinting() ? { start: 0, end: lines.length } : visible
  return { measured, start, end, visibleEnd: visible.end }
}

function useHeights(root: RefObject<HTMLElement | null>): { day: number; row: number } {
  const [heights, setHeights] = useState({ day: 49, row: 73 })
  useLayoutEffect(() => {
    const measure = () => {
      const heightOf = (shape: string) =>
        root.current?.querySelector(`[data-shape=${shape}]`)?.getBoundingClientRect().height
      setHeights(before => {
        const [day, row] = [heightOf('day') ?? before.day, heightOf('row') ?? before.row]
        return day === before.day && row === before.row ? before : { day, row }
      })
    }
    measure()
    const watching = new ResizeObserver(measure)
    if (root.current) watching.observe(root.current)
    return () => watching.disconnect()
  }, [root])
  return heights
}

function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    // renders synchronously, because the browser prints right after the event
    const follow = ({ type }: Event) => flushSync(() => setPrinting(type === 'beforeprint'))
    addEventListener('beforeprint', follow)
    addEventListener('afterprint', follow)
    return () => {
      removeEventListener('beforeprint', follow)
      removeEventListener('afterprint', follow)
    }
  }, [])
  return isPrinting
}

function useVisibleLines(root: RefObject<HTMLElement | null>, lines: LinePositions) {
  const [range, setRange] = useState({ start: 0, end: 24 })
  useLayoutEffect(() => {
    const look = () => {
      const top = root.current?.getBoundingClientRect().top ?? 0
      const next = visibleLineRange(lines, -top - marginPx, window.innerHeight - top + marginPx)
      setRange(now => (now.start === next.start && now.end === next.end ? now : next))
    }
    look()
    window.addEventListener('scroll', look, { passive: true })
    window.addEventListener('resize', look)
    return () => {
      window.removeEventListener('scroll', look)
      window.removeEventListener('resize', look)
    }
  }, [root, lines])
  return { start: Math.min(range.start, lines.length), end: Math.min(range.end, lines.length) }
}
