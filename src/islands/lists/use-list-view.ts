import { useEffect, useState } from 'react'
import { defaultListView, loadListView, storeListView } from '../../stores/lists/list-views.ts'
import type { TableColumn } from './DataTable.tsx'

const wide = '(width >= 1280px)'

/** The browser stores the view under the name of the list. */
export function useListView<Row>(list: string, columns: readonly TableColumn<Row>[]) {
  const [view, setView] = useState(defaultListView)
  const [isWide, setWide] = useState(true)
  useEffect(() => setView(loadListView(list)), [list])
  useEffect(() => {
    const query = matchMedia(wide)
    const follow = () => setWide(query.matches)
    follow()
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }, [])

  const isShown = ({ id, isSecondary }: TableColumn<Row>, at: number) =>
    at === 0 || (view.columns[id] ?? (!isSecondary || isWide))
  const change = (changes: Partial<typeof view>) => {
    const next = { ...view, ...changes }
    setView(next)
    storeListView(list, next)
  }
  return { density: view.density, shown: columns.filter(isShown), view, change }
}

export type ListViewState<Row> = ReturnType<typeof useListView<Row>>
