import { useStore } from '@nanostores/react'
import type { ReadableAtom } from 'nanostores'
import { type ReactNode, useEffect } from 'react'
import type { ItemState } from '../../stores/admin/shown-item.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useWaitPhase } from '../kit/time.ts'
import { useSetPageName } from '../kit/use-set-page-name.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface DetailFrameProps<Item> {
  store: ReadableAtom<ItemState<Item>>
  /** Must be the same function at every render. */
  open: (id: string) => Promise<unknown>
  /** Name of the route parameter with the id of the item. */
  param: string
  /** The list page that is linked if the item does not exist. */
  list: 'categories' | 'dataSources' | 'domains' | 'groups' | 'users'
  missing: (key: 'title' | 'text' | 'go') => string
  nameOf: (item: Item) => string
  children: (item: Item) => ReactNode
}

/** The page of an item: loads it, and says if it is missing or could not be loaded. */
export function DetailFrame<Item extends { id: string }>(props: DetailFrameProps<Item>) {
  const { store, open, param, list, missing, nameOf, children } = props
  const { locale, t } = useTranslation()
  const state = useStore(store, { ssr: 'initial' })
  const route = useStore($route)
  const session = useStore($session, { ssr: 'initial' })
  const params: Record<string, string> = route?.params ?? {}
  const { company = '', [param]: id } = params
  const isIn = session.status === 'in'
  const waiting = useWaitPhase(state.status === 'loading')
  useSetPageName(state.status === 'ready' ? nameOf(state.item) : undefined)

  useEffect(() => {
    if (id !== undefined && isIn) void open(id)
  }, [id, isIn, open])

  switch (state.status) {
    case 'loading':
      return (
        <section className="sheet min-h-64" data-state="loading">
          <p role="status" className="text-ink-soft">
            {waiting === 'text' || waiting === 'slow' ? t('common.loading') : ''}
          </p>
        </section>
      )
    case 'missing':
      return (
        <section className="sheet flex flex-col items-start gap-4" data-state="missing">
          <p className="verdict" role="status">
            {missing('title')}
          </p>
          <p className="text-ink-soft">{missing('text')}</p>
          <a className="btn btn-primary" href={pageHref(locale, list, { company })}>
            {missing('go')}
          </a>
        </section>
      )
    case 'failed':
      return (
        <section className="sheet" data-state="error">
          <ErrorNote error={state.error} retry={() => open(id ?? '')} />
        </section>
      )
    case 'ready':
      return (
        <div key={state.item.id} className="flex flex-col gap-6" data-state="ready">
          {children(state.item)}
        </div>
      )
  }
}
