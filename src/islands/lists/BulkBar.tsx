import type { AppError } from '../../contract/kit/errors.ts'
import {
  countSelectedRows,
  emptySelection,
  type RowSelection
} from '../../stores/lists/selection.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { Popup } from './Popup.tsx'

interface BulkBarProps<Action extends string> {
  selection: RowSelection
  onSelect: (selection: RowSelection) => void
  /** Ids of all loaded rows. */
  shown: readonly string[]
  /** Whether more rows match than are loaded. */
  hasMore: boolean
  /** The most frequent first. */
  actions: readonly { id: Action; label: string }[]
  onAct: (action: Action) => void
  isBusy: boolean
  onSelectAll: () => void
  isCounting: boolean
  failure: AppError | undefined
  /** `3 people selected` */
  words: (count: number) => string
}

// a menu has the others
const ownButtons = 3

export function BulkBar<Action extends string>(props: BulkBarProps<Action>) {
  const { selection, onSelect, shown, hasMore, actions, onAct, isBusy } = props
  const { onSelectAll, isCounting, failure, words } = props
  const { t } = useTranslation()
  const count = countSelectedRows(selection)
  const known = new Set(shown)
  const hidden = [...selection.ids].filter(id => !known.has(id)).length
  const news = [
    count > 0 ? words(count) : '',
    hidden > 0 ? t('lists.select.hidden', { count: hidden }) : ''
  ]
  return (
    <>
      {/* always there, so that screen readers hear what changes */}
      <p role="status" className="sr-only">
        {news.join(' ')}
      </p>
      {count > 0 && (
        <section className="bulk-bar" aria-label={t('lists.bulk.label')}>
          {failure && <ErrorNote error={failure} />}
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <p className="tabular">
              <strong className="font-semibold">{words(count)}</strong>
              {hidden > 0 && (
                <span className="text-ink-soft">
                  {' '}
                  {t('lists.select.hidden', { count: hidden })}
                </span>
              )}
            </p>
            {selection.all === undefined && hasMore && (
              <button
                type="button"
                className="link cursor-pointer text-sm"
                aria-disabled={isCounting}
                onClick={onSelectAll}
              >
                {isCounting ? t('lists.select.counting') : t('lists.select.all')}
              </button>
            )}
            <div className="ms-auto flex flex-wrap items-center gap-2">
              {actions.slice(0, ownButtons).map(({ id, label }) => (
                <button
                  key={id}
                  type="button"
                  className="btn btn-outline btn-sm max-md:hidden"
                  aria-disabled={isBusy}
                  onClick={() => !isBusy && onAct(id)}
                >
                  {label}
                </button>
              ))}
              <Popup
                button={
                  <>
                    <span className="md:hidden">{t('lists.bulk.actions')}</span>
                    <span className="max-md:hidden">{t('lists.bulk.more')}</span>
                  </>
                }
                className="btn btn-outline btn-sm"
                label={t('lists.bulk.actions')}
              >
                {close =>
                  actions.map(({ id, label }, at) => (
                    <button
                      key={id}
                      type="button"
                      className={`popup-choice ${at < ownButtons ? 'md:hidden' : ''}`}
                      aria-disabled={isBusy}
                      onClick={() => {
                        close()
                        if (!isBusy) onAct(id)
                      }}
                    >
                      {label}
                    </button>
                  ))
                }
              </Popup>
              <button
                type="button"
                className="btn btn-ghost btn-sm"
                onClick={() => onSelect(emptySelection)}
              >
                {t('lists.select.clear')}
              </button>
            </div>
          </div>
        </section>
      )}
    </>
  )
}
