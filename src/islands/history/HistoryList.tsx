import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore
} from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { type Lines, measureLines, visibleLines } from '../../core/pages/visible-lines.ts'
import type { Locale, T } from '../../i18n/index.ts'
import { countNewer, updateShownRows } from '../../stores/history/requests.ts'
import { downloadDocument } from '../files/download-document.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { dayName, dayOf } from './history-days.ts'
import { RequestRow } from './RequestRow.tsx'
import { requestName } from './request-labels.ts'

interface HistoryListProps {
  requests: readonly ProcessedRequest[]
  categories: ReadonlyMap<string, string>
  locale: Locale
  /** Over the namespaces `history`, `errors` and `common`. */
  t: T
  now: number
  /** Whether details cover the list. */
  isCovered: boolean
  hrefOf: (id: string) => string
  onOpen: (id: string) => void
  /** The last rows are near. */
  onEnd: () => void
}

/** Rows may not move from under a person who reads below this many pixels. */
const scrolledPx = 64
/** Drawn above and below the window, so that quick scrolling meets rows. */
const marginPx = 800
/** Rows before the end at which older ones are asked for. */
const nearEnd = 10

type Line = { day: string; request?: undefined } | { request: ProcessedRequest }

/**
 * The rows by day, of which only those in the window are drawn. New ones wait behind a pill while the
 * person is scrolled down, points at the list or is inside it; known rows change in place.
 */
export function HistoryList(props: HistoryListProps) {
  const { requests, categories, locale, t, now, onEnd, hrefOf } = props
  const root = useRef<HTMLDivElement>(null)
  const isScrolled = useScrolled()
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const isHeld = isScrolled || isHovered || isFocused || props.isCovered
  const { shown, waiting, reveal } = useHeld(requests, isHeld)
  const announced = useSlowly(waiting, 5000)

  const today = dayOf(new Date(now).toISOString())
  const lines = useMemo(() => linesOf(shown), [shown])
  const heights = useHeights(root)
  const measured = useMemo(
    () => measureLines(lines.length, at => (lines[at]?.request ? heights.row : heights.day)),
    [lines, heights]
  )
  const inWindow = useWindow(root, measured)
  // paper has no window
  const { start, end } = usePrinting() ? { start: 0, end: lines.length } : inWindow
  useEffect(() => {
    if (end > lines.length - nearEnd) onEnd()
  }, [end, lines.length, onEnd])

  const { stopId, onKeyDown, onRowFocus } = useArrows({ root, lines, measured, start, end })
  const saving = useSaving()
  const [onOpen, onSave] = [useLatest(props.onOpen), useLatest(saving.save)]
  const show = () => {
    reveal()
    window.scrollTo({ top: 0 })
    // beside the rows, not among them: a focus inside holds new rows back
    root.current?.focus({ preventScroll: true })
  }

  return (
    <div className="relative">
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
          <ErrorNote error={saving.failed.error} locale={locale} t={t}>
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
        {daysOf(lines.slice(start, end)).map(({ day, hasHead, rows }) => (
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
                  locale={locale}
                  t={t}
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

/** Stands for the rows that are not drawn; the policy forbids heights in style attributes. */
function Gap({ height }: { height: number }) {
  if (height === 0) return null
  return <svg aria-hidden="true" className="block w-px" height={height} />
}

function linesOf(requests: readonly ProcessedRequest[]): Line[] {
  const lines: Line[] = []
  let day: string | undefined
  for (const request of requests) {
    const its = dayOf(request.created)
    if (its !== day) lines.push({ day: its })
    day = its
    lines.push({ request })
  }
  return lines
}

/** The drawn lines by day; the first day may have begun above. */
function daysOf(lines: readonly Line[]) {
  const days: { day: string; hasHead: boolean; rows: ProcessedRequest[] }[] = []
  for (const { request, ...head } of lines) {
    if ('day' in head) days.push({ day: head.day, hasHead: true, rows: [] })
    if (!request) continue
    if (days.length === 0) days.push({ day: dayOf(request.created), hasHead: false, rows: [] })
    days.at(-1)?.rows.push(request)
  }
  return days
}

/** What is shown while rows must not move, and how many newer ones wait. */
function useHeld(requests: readonly ProcessedRequest[], isHeld: boolean) {
  const [shown, setShown] = useState(requests)
  const [source, setSource] = useState(requests)
  const [wasHeld, setWasHeld] = useState(isHeld)
  if (source !== requests || wasHeld !== isHeld) {
    setSource(requests)
    setWasHeld(isHeld)
    setShown(isHeld ? updateShownRows(shown, requests) : requests)
  }
  return {
    shown,
    waiting: countNewer(requests, shown[0]),
    reveal: () => setShown(requests)
  }
}

/** Heights of a day's head and of a row, as they are at this width and with this text size. */
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

let isPrinting = false

/** Whether the page is being printed. Only what a store says is drawn before the browser lays out the paper. */
function usePrinting(): boolean {
  return useSyncExternalStore(
    onPrint,
    () => isPrinting,
    () => false
  )
}

function onPrint(changed: () => void): () => void {
  const follow = ({ type }: Event) => {
    isPrinting = type === 'beforeprint'
    changed()
  }
  addEventListener('beforeprint', follow)
  addEventListener('afterprint', follow)
  return () => {
    removeEventListener('beforeprint', follow)
    removeEventListener('afterprint', follow)
  }
}

/** The lines that the window shows, with a margin. */
function useWindow(root: RefObject<HTMLElement | null>, lines: Lines) {
  const [range, setRange] = useState({ start: 0, end: 24 })
  useLayoutEffect(() => {
    const look = () => {
      const top = root.current?.getBoundingClientRect().top ?? 0
      const next = visibleLines(lines, -top - marginPx, window.innerHeight - top + marginPx)
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

interface ArrowsOptions {
  root: RefObject<HTMLElement | null>
  lines: readonly Line[]
  measured: Lines
  start: number
  end: number
}

/** Tab reaches one row; arrows, Home and End lead to the others, drawn or not. */
function useArrows({ root, lines, measured, start, end }: ArrowsOptions) {
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
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    const rows = lines.flatMap(({ request }, at) => (request ? [{ id: request.id, at }] : []))
    const here = rows.findIndex(({ id }) => id === (active ?? stopId))
    const steps: Record<string, number> = {
      ArrowDown: here + 1,
      ArrowUp: here - 1,
      Home: 0,
      End: rows.length - 1
    }
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const row = rows[Math.max(0, Math.min(rows.length - 1, step))]
    if (!row) return
    wanted.current = row.id
    setActive(row.id)
    const list = root.current
    if (list?.querySelector(`[data-request="${row.id}"]`)) return
    // not drawn yet: to where it will be, with the focus kept in the list meanwhile
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

/** Fetches the file of a row; what goes wrong is told above the rows, whose heights stay alike. */
function useSaving() {
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

/** The same function at every drawing, which calls the newest. */
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

/** A number that changes at most once per `ms`, for what is read aloud. */
function useSlowly(value: number, ms: number): number {
  const [slow, setSlow] = useState(value)
  useEffect(() => {
    if (slow === value) return
    const timer = setTimeout(() => setSlow(value), slow === 0 ? 0 : ms)
    return () => clearTimeout(timer)
  }, [value, slow, ms])
  return slow
}
