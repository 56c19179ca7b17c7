import { useStore } from '@nanostores/react'
import { useRef, useState } from 'react'
import type { Category } from '../../contract/categories.ts'
import type { Group } from '../../contract/groups.ts'
import {
  $groupCategories,
  addCategory,
  findCategories,
  loadCategories,
  removeCategory
} from '../../stores/groups.ts'
import { Combobox } from '../forms/Combobox.tsx'
import { useAction } from '../forms/use-action.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useWords } from '../kit/use-words.ts'

interface GroupCategoriesProps {
  group: Group
}

/** Lists the categories that the members of a group may use, adds and removes them. */
export function GroupCategories({ group: { id } }: GroupCategoriesProps) {
  const { locale, t } = useWords()
  const list = useStore($groupCategories, { ssr: 'initial' })
  const [news, setNews] = useState('')
  const title = useRef<HTMLHeadingElement>(null)
  const nameOf = (category: Category) => category.names[locale]

  // one action, so that a later success removes what an earlier failure says
  const changing = useAction({
    what: 'Changing the categories failed',
    async send({ category, isAdded }: { category: Category; isAdded: boolean }) {
      if (isAdded) {
        await addCategory(id, category)
        setNews(t('groups.categories.added', { category: nameOf(category) }))
        return
      }
      await removeCategory(id, category)
      setNews(t('groups.categories.removed', { category: nameOf(category) }))
      // the button that was pressed is gone
      title.current?.focus()
    }
  })
  const paging = useAction({
    what: 'Loading more categories failed',
    send: (after: string | undefined) => loadCategories(id, after)
  })
  const search = async (text: string) => {
    const found = await findCategories(text)
    return found.map(category => ({ item: category, id: category.id, label: nameOf(category) }))
  }

  return (
    <section
      className="sheet flex flex-col gap-4"
      aria-labelledby="group-categories"
      data-state={list.status}
    >
      <h2 id="group-categories" ref={title} tabIndex={-1} className="section-title">
        {t('groups.categories.title')}
      </h2>
      <Combobox
        label={t('groups.categories.find')}
        hint={t('groups.categories.findHint')}
        search={search}
        choose={category => void changing.start({ category, isAdded: true })}
        isBusy={changing.isWorking}
      />
      {changing.failure && <ErrorNote error={changing.failure} />}
      <p role="status" className="empty:hidden">
        {list.status === 'loading' ? t('common.loading') : news}
      </p>
      {list.status === 'failed' && (
        <ErrorNote error={list.error}>
          <button
            type="button"
            className="btn btn-outline btn-sm self-start"
            onClick={() => void loadCategories(id)}
          >
            {t('common.retry')}
          </button>
        </ErrorNote>
      )}
      {list.status === 'ready' && list.items.length === 0 && (
        <p className="text-ink-soft">{t('groups.categories.none')}</p>
      )}
      {list.status === 'ready' && list.items.length > 0 && (
        <ul className="flex flex-col divide-y divide-base-300">
          {list.items.map(category => (
            <li key={category.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
              <p className="min-w-0 flex-1 wrap-anywhere">{nameOf(category)}</p>
              <button
                type="button"
                className="btn btn-outline btn-sm"
                aria-label={t('groups.categories.removeNamed', { category: nameOf(category) })}
                aria-disabled={changing.isWorking}
                onClick={() => void changing.start({ category, isAdded: false })}
              >
                {t('groups.categories.remove')}
              </button>
            </li>
          ))}
        </ul>
      )}
      {paging.failure && <ErrorNote error={paging.failure} />}
      {list.status === 'ready' && list.hasMore && (
        <button
          type="button"
          className="btn btn-outline self-start"
          aria-disabled={paging.isWorking}
          onClick={() => void paging.start(list.items.at(-1)?.id)}
        >
          {t('groups.more')}
        </button>
      )}
    </section>
  )
}
