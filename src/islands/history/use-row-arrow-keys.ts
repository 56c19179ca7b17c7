import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react'
import type { LinePositions } from '../../core/pages/visible-lines.ts'
import { findRowForPressedKey } from '../lists/row-keys.ts'
import type { HistoryLine } from './history-days.ts'

interface RowArrowKeysOptions {
  root: RefObject<HTMLElement | null>
  lines: readonly HistoryLine[]
  measured: LinePositions
  start: number
  end: number
}

export function useRowArrowKeys({ root, lines, measured, start, end }: RowArrowKeysOptions) {
  const [active, setActive] = useState<string>()
  const wanted = useRef<string>(undefined)
  const drawn = lines.slice(start, end).flatMap(({ request }) => request?.id ?? [])
  const stopId = active !== undefined && drawn.includes(active) ? active : drawn[0]

  useEffect(() => {
    const { current: list } = root
    if (!list) return
    const row = wanted.current && list.querySelector(`[data-request="${wanted.current}"] a`)
    if (row instanceof HTMLElement) {
      wanted.current = undefined
      row.focus({ preventScroll: true })
      row.closest('li')?.scrollIntoView({ block: 'nearest' })
    }
  })

  const onKeyDown = (event: KeyboardEvent) => {
    const rows = lines.flatMap(({ request }, at) => (request ? [{ id: request.id, at }] : []))
    const here = rows.findIndex(({ id }) => id === (active ?? stopId))
    const step = findRowForPressedKey(event, here, rows.length)
    if (step === undefined) return
    event.preventDefault()
    const row = rows[step]
    if (!row) return
    wanted.current = row.id
    setActive(row.id)
    const list = root.current
    if (list?.querySelector(`[data-request="${row.id}"]`)) return
    // the row is not drawn yet: scrolls to its position and keeps the focus in the list meanwhile
    list?.focus({ preventScroll: true })
    const top = (list?.getBoundingClientRect().top ?? 0) + window.scrollY
    window.scrollTo({ top: top + measured.topOf(row.at) - window.innerHeight / 2 })
  }
  const onRowFocus = (target: EventTarget) => {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-request]') : null
    if (row) setActive(row.dataset['request'])
  }
  return { stopId, onKeyDown, onRowFocus }
}
