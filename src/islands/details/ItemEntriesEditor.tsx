import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { ItemEntriesState } from '../../stores/admin/item-entries.ts'
import { Combobox } from '../forms/Combobox.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Section } from '../kit/Section.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'

type Word = 'title' | 'find' | 'findHint' | 'added' | 'removed' | 'remove' | 'removeNamed'

interface ItemEntriesProps<Entry> {
  id: string
  part: ItemEntriesState<Entry>
  words: (key: Word, values?: { name: string }) => string
  none: string
  note?: string
  nameOf: (entry: Entry) => string
  /** Returns the entries that can be added to the list. */
  find: (text: string) => Promise<readonly Entry[]>
  noteOf?: (entry: Entry) => string
  /** With `after`, loads the entries that follow this one. */
  load: (after?: string) => Promise<void>
  add: (entry: Entry) => Promise<void>
  remove: (entry: Entry) => Promise<void>
  row: (entry: Entry) => ReactNode
  /** Content between the search and the list. */
  children?: ReactNode
}

const undoMs = 10_000

/** Lists entries that belong to the item of a page, such as the members of a group. */
export function ItemEntriesEditor<Entry extends { id: string }>(props: ItemEntriesProps<Entry>) {
  const { id, part, words, none, note, nameOf, find, noteOf, load, add, remove, row, children } =
    props
  const { t } = useTranslation()
  const [news, setNews] = useState<{ text: string; removed?: Entry }>()
  const title = useRef<HTMLHeadingElement>(null)

  // one action, so that a later success removes what an earlier failure says
  const changing = useAction({
    what: `Changing the list ${id} failed`,
    async send({ entry, isAdded }: { entry: Entry; isAdded: boolean }) {
      const name = nameOf(entry)
      // the button that was pressed is gone then
      const isFocusLost = !isAdded || entry === news?.removed
      await (isAdded ? add : remove)(entry)
      setNews(
        isAdded
          ? { text: words('added', { name }) }
          : { text: words('removed', { name }), removed: entry }
      )
      if (isFocusLost) title.current?.focus()
    }
  })
  const paging = useAction({
    what: `Loading more of the list ${id} failed`,
    send: (after: string | undefined) => load(after)
  })
  useEffect(() => {
    if (!news?.removed) return
    const timer = setTimeout(() => setNews(undefined), undoMs)
    return () => clearTimeout(timer)
  }, [news])

  const search = async (text: string) => {
    const found = await find(text)
    return found.map(entry => ({
      item: entry,
      id: entry.id,
      label: nameOf(entry),
      ...(noteOf ? { note: noteOf(entry) } : {})
    }))
  }
  const removed = news?.removed
  return (
    <Section id={id} ref={title} title={words('title')} note={note} state={part.status}>
      <Combobox
        label={words('find')}
        hint={words('findHint')}
        search={search}
        choose={entry => void changing.start({ entry, isAdded: true })}
        isBusy={changing.isWorking}
      />
      {children}
      {changing.failure && <ErrorNote error={changing.failure} />}
      <div role="status" className="flex flex-wrap items-center gap-3 empty:hidden">
        {part.status === 'loading' ? t('common.loading') : news?.text}
        {removed && (
          <button
            type="button"
            className="btn btn-outline btn-sm"
            aria-disabled={changing.isWorking}
            onClick={() => void changing.start({ entry: removed, isAdded: true })}
          >
            {t('common.undo')}
          </button>
        )}
      </div>
      {part.status === 'failed' && <ErrorNote error={part.error} retry={() => load()} />}
      {part.status === 'ready' && part.items.length === 0 && (
        <p className="text-ink-soft">{none}</p>
      )}
      {part.status === 'ready' && part.items.length > 0 && (
        <ul className="flex flex-col divide-y divide-base-300">
          {part.items.map(entry => (
            <li key={entry.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
              {row(entry)}
              <button
                type="button"
                className="btn btn-outline btn-sm"
                aria-label={words('removeNamed', { name: nameOf(entry) })}
                aria-disabled={changing.isWorking}
                onClick={() => void changing.start({ entry, isAdded: false })}
              >
                {words('remove')}
              </button>
            </li>
          ))}
        </ul>
      )}
      {paging.failure && <ErrorNote error={paging.failure} />}
      {part.status === 'ready' && part.hasMore && (
        <button
          type="button"
          className="btn btn-outline self-start"
          aria-disabled={paging.isWorking}
          onClick={() => void paging.start(part.items.at(-1)?.id)}
        >
          {t('common.more')}
        </button>
      )}
    </Section>
  )
}
