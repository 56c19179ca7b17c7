import { useEffect, useState } from 'react'
import { readView, storeView, usualView } from '../../stores/lists/list-views.ts'
import type { Column } from './DataTable.tsx'

const wide = '(width >= 1280px)'

/**
 * Returns the columns and the density in which the person wants to see a list, and functions that
 * change them. This browser stores them under the name of the list.
 */
export function useView<Row>(list: string, columns: readonly Column<Row>[]) {
  const [view, setView] = useState(usualView)
  const [isWide, setWide] = useState(true)
  useEffect(() => setView(readView(list)), [list])
  useEffect(() => {
    const query = matchMedia(wide)
    const follow = () => setWide(query.matches)
    follow()
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }, [])

  const isShown = ({ id, isSecondary }: Column<Row>, at: number) =>
    at === 0 || (view.columns[id] ?? (!isSecondary || isWide))
  const change = (changes: Partial<typeof view>) => {
    const next = { ...view, ...changes }
    setView(next)
    storeView(list, next)
  }
  return { density: view.density, shown: columns.filter(isShown), view, change }
}

/** The chosen columns and density of a list, and the functions that change them. */
export type ViewOf<Row> = ReturnType<typeof useView<Row>>
