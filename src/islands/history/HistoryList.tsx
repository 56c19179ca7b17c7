import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { computeShownRows, countNewerRequests } from '../../stores/history/requests.ts'
import { downloadDocument } from '../files/download-document.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { dayName, groupByDay, historyLines, localDayOf } from './history-days.ts'
import { PrintHeading } from './PrintHeading.tsx'
import { RequestRow } from './RequestRow.tsx'
import { requestName } from './request-labels.ts'
import { useRowArrowKeys } from './use-row-arrow-keys.ts'
import { useRowWindow } from './use-row-window.ts'

interface HistoryListProps {
  requests: readonly ProcessedRequest[]
  categories: ReadonlyMap<string, string>
  now: number
  /** Whether there may be older requests that are not loaded yet. */
  hasMore: boolean
  isCovered: boolean
  hrefOf: (id: string) => string
  onOpen: (id: string) => void
  onEnd: () => void
}

// further down the person is reading, and new rows stay hidden
const scrolledPx = 64
// older rows are loaded when fewer remain below the window
const nearEnd = 10

// new rows stay hidden while the person has scrolled down, has the pointer or focus in the list, or
// reads details
export function HistoryList(props: HistoryListProps) {
  const { requests, categories, now, onEnd, hrefOf } = props
  const { locale, t } = useTranslation()
  const root = useRef<HTMLDivElement>(null)
  const isScrolled = useScrolled()
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const isPaused = isScrolled || isHovered || isFocused || props.isCovered
  const { shown, waiting, reveal } = usePausedRows(requests, isPaused)
  const announced = useSettledValue(waiting, 5000)

  const today = localDayOf(new Date(now).toISOString())
  const lines = useMemo(() => historyLines(shown), [shown])
  const { measured, start, end, visibleEnd } = useRowWindow(root, lines)
  useEffect(() => {
    if (visibleEnd > lines.length - nearEnd) onEnd()
  }, [visibleEnd, lines.length, onEnd])

  const { stopId, onKeyDown, onRowFocus } = useRowArrowKeys({ root, lines, measured, start, end })
  const saving = useRowDownload()
  const [onOpen, onSave] = [useLatest(props.onOpen), useLatest(saving.save)]
  const show = () => {
    reveal()
    window.scrollTo({ top: 0 })
    // outside the rows, because new rows stay hidden while the focus is inside
    root.current?.focus({ preventScroll: true })
  }

  return (
    <div className="relative">
      <PrintHeading
        count={shown.length}
        hasMore={props.hasMore}
        categories={categories}
        now={now}
      />
      {waiting > 0 && (
        <div className="pointer-events-none sticky top-20 z-10 flex h-0 justify-center">
          <button
            type="button"
            className="btn btn-secondary btn-sm pointer-events-auto -translate-y-1/2"
            onClick={show}
          >
            {t('history.new', { count: waiting })}
          </button>
        </div>
      )}
      <p role="status" className="sr-only">
        {announced > 0 ? t('history.new', { count: announced }) : ''}
      </p>
      {saving.failed && (
        <div className="pb-4">
          <ErrorNote error={saving.failed.error}>
            <p>{t('history.saveFailed', { name: requestName(saving.failed.request, t) })}</p>
          </ErrorNote>
        </div>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the links inside */}
      <div
        ref={root}
        tabIndex={-1}
        className="sheet py-0"
        onPointerEnter={event => setHovered(event.pointerType === 'mouse')}
        onPointerLeave={() => setHovered(false)}
        onFocus={({ target, currentTarget }) => {
          setFocused(target !== currentTarget)
          onRowFocus(target)
        }}
        onBlur={({ currentTarget, relatedTarget }) => {
          setFocused(currentTarget !== relatedTarget && currentTarget.contains(relatedTarget))
        }}
        onKeyDown={onKeyDown}
      >
        <Gap height={measured.topOf(start)} />
        {groupByDay(lines.slice(start, end)).map(({ day, hasHead, rows }) => (
          <section key={day} aria-label={dayName(day, today, locale, t)}>
            {hasHead && (
              <h2 className="label-text pt-6 pb-2" data-shape="day">
                {dayName(day, today, locale, t)}
              </h2>
            )}
            <ul aria-label={t('history.list')}>
              {rows.map(request => (
                <RequestRow
                  key={request.id}
                  request={request}
                  category={categories.get(request.category_id ?? '')}
                  now={now}
                  isStop={request.id === stopId}
                  isSaving={saving.id === request.id}
                  href={hrefOf(request.id)}
                  onOpen={onOpen}
                  onSave={onSave}
                />
              ))}
            </ul>
          </section>
        ))}
        <Gap height={measured.topOf(lines.length) - measured.topOf(end)} />
      </div>
      <span role="status" className="sr-only">
        {saving.id ? t('history.saving') : ''}
      </span>
    </div>
  )
}

// an svg, because the content security policy forbids style attributes
function Gap({ height }: { height: number }) {
  if (height === 0) return null
  return <svg aria-hidden="true" className="block w-px" height={height} />
}

function usePausedRows(requests: readonly ProcessedRequest[], isPaused: boolean) {
  const [shown, setShown] = useState(requests)
  const [source, setSource] = useState(requests)
  const [wasPaused, setWasPaused] = useState(isPaused)
  if (source !== requests || wasPaused !== isPaused) {
    setSource(requests)
    setWasPaused(isPaused)
    setShown(isPaused ? computeShownRows(shown, requests) : requests)
  }
  return {
    shown,
    waiting: countNewerRequests(requests, shown[0]),
    reveal: () => setShown(requests)
  }
}

// the error is shown above the list, because all rows must have the same height
function useRowDownload() {
  const [id, setId] = useState<string>()
  const [failed, setFailed] = useState<{ request: ProcessedRequest; error: AppError }>()
  const save = async (request: ProcessedRequest) => {
    if (id !== undefined) return
    setId(request.id)
    setFailed(undefined)
    try {
      await downloadDocument(request)
    } catch (cause) {
      setFailed({ request, error: asAppError(cause, 'Saving failed') })
    }
    setId(undefined)
  }
  return { id, failed, save }
}

function useLatest<Given>(act: (given: Given) => unknown): (given: Given) => void {
  const latest = useRef(act)
  latest.current = act
  return useCallback((given: Given) => void latest.current(given), [])
}

function useScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(false)
  useEffect(() => {
    const look = () => setScrolled(window.scrollY > scrolledPx)
    look()
    window.addEventListener('scroll', look, { passive: true })
    return () => window.removeEventListener('scroll', look)
  }, [])
  return isScrolled
}

// screen readers are not flooded, but hear of the first new row at once
function useSettledValue(value: number, ms: number): number {
  const [slow, setSlow] = useState(value)
  useEffect(() => {
    if (slow === value) return
    const timer = setTimeout(() => setSlow(value), slow === 0 ? 0 : ms)
    return () => clearTimeout(timer)
  }, [value, slow, ms])
  return slow
}
