import { useEffect, useId, useState } from 'react'
import { defaultListView, loadListView, storeListView } from '../../stores/lists/list-views.ts'
import { useTranslation } from '../kit/use-translation.ts'
import type { TableColumn } from './DataTable.tsx'
import { Popup } from './Popup.tsx'

interface ViewMenuProps<Row> {
  columns: readonly TableColumn<Row>[]
  view: ListViewState<Row>
}

const densities = ['comfortable', 'compact'] as const

export function ViewMenu<Row>({ columns, view }: ViewMenuProps<Row>) {
  const { t } = useTranslation()
  const name = useId()
  const { density, shown, change } = view
  return (
    <Popup
      button={t('lists.view.open')}
      className="btn btn-outline btn-sm"
      label={t('lists.view.open')}
    >
      {() => (
        <div className="flex flex-col gap-4 p-2">
          <fieldset>
            <legend className="label-text pb-1">{t('lists.view.columns')}</legend>
            {columns.slice(1).map(column => (
              <label key={column.id} className="popup-choice">
                <input
                  type="checkbox"
                  className="checkbox checkbox-sm"
                  checked={shown.includes(column)}
                  onChange={({ target }) =>
                    change({ columns: { ...view.view.columns, [column.id]: target.checked } })
                  }
                />
                {column.label}
              </label>
            ))}
          </fieldset>
          <fieldset>
            <legend className="label-text pb-1">{t('lists.view.density')}</legend>
            {densities.map(each => (
              <label key={each} className="popup-choice">
                <input
                  type="radio"
                  name={name}
                  className="radio radio-sm"
                  checked={density === each}
                  onChange={() => change({ density: each })}
                />
                {t(`lists.view.${each}`)}
              </label>
            ))}
          </fieldset>
        </div>
      )}
    </Popup>
  )
}

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
