import { atom } from 'nanostores'
import { AppError } from '../contract/errors.ts'
import { listRequests, ProcessedRequest, streamRequests } from '../contract/requests.ts'
import { environment } from './environment.ts'
import { openEventStream, type StreamState } from './event-stream.ts'
import { $session, api, apiOrigin, heed, onSignOut, sessionToken } from './sessions.ts'

/** The person's history, newest first, each request once. */
export const $requests = atom<readonly ProcessedRequest[]>([])

export type HistoryStatus =
  | { status: 'idle' }
  | { status: 'loading' }
  | { status: 'ready'; hasMore: boolean; more: 'idle' | 'loading' | { error: AppError } }
  | { status: 'failed'; error: AppError }

export const $historyStatus = atom<HistoryStatus>({ status: 'idle' })
export const $streamState = atom<StreamState>('connecting')

const pageSize = 50

const listeners = new Set<(request: ProcessedRequest) => void>()
/** The same requests as `$requests`, by id. */
let known: ReadonlyMap<string, ProcessedRequest> = new Map()
/** Oldest request up to which the pages are complete; events may bring single older ones. */
let cursor: string | undefined
/** Ids that pages brought; an event may bring one that lies in a gap. */
const paged = new Set<string>()
let closeStream: (() => void) | undefined

onSignOut(reset)

/** Runs for each request that is new or has changed, wherever the news came from. */
export function onRequest(run: (request: ProcessedRequest) => void): () => void {
  listeners.add(run)
  return () => listeners.delete(run)
}

/** Opens the stream, and from its first tick on loads the list, so that nothing falls between. */
export function loadRequests(): void {
  if (closeStream || $session.get().status === 'out') return
  $historyStatus.set({ status: 'loading' })
  closeStream = openEventStream({
    url: `${apiOrigin()}${streamRequests.path}`,
    environment: environment(),
    token: sessionToken,
    onState: state => $streamState.set(state),
    onMessage: data => {
      const request = parse(data)
      if (request) addRequests([request])
    },
    onReload: () => void reload(),
    onError: (error, token) => {
      heed(error, token)
      // A list without its stream is still worth showing.
      if ($historyStatus.get().status === 'loading') void reload()
    }
  })
}

/** Tries the first page again after a failure. */
export async function retryRequests(): Promise<void> {
  $historyStatus.set({ status: 'loading' })
  await reload()
}

export async function loadMoreRequests(): Promise<void> {
  const before = $historyStatus.get()
  if (before.status !== 'ready' || before.more === 'loading' || !before.hasMore) return
  $historyStatus.set({ ...before, more: 'loading' })
  const mine = closeStream
  const from = cursor
  try {
    const page = await api(listRequests, { limit: pageSize, ...(from ? { cursor: from } : {}) })
    if (mine !== closeStream) return
    // a reload has found a gap meanwhile: this page lies behind it, and is asked for again in its turn
    if (from === cursor) takePage(page, true)
    else addRequests(page)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (mine === closeStream) $historyStatus.set({ ...before, more: { error } })
  }
}

/** Takes up what is newer than what is known, by id and sequence. */
function addRequests(incoming: readonly ProcessedRequest[]): void {
  const { requests, changed } = mergeRequests(known, incoming)
  if (changed.length === 0) return
  known = requests
  $requests.set([...requests.values()].sort(newestFirst))
  for (const request of changed) {
    for (const run of listeners) run(request)
  }
}

/**
 * Each request once, in its newest state: the replay after a lost connection, live events and the list
 * may overlap in any order. `changed` holds what was new or newer.
 */
export function mergeRequests(
  known: ReadonlyMap<string, ProcessedRequest>,
  incoming: readonly ProcessedRequest[]
): { requests: ReadonlyMap<string, ProcessedRequest>; changed: ProcessedRequest[] } {
  const requests = new Map(known)
  const changed: ProcessedRequest[] = []
  for (const request of incoming) {
    const held = requests.get(request.id)
    if (held && held.seq >= request.seq) continue
    requests.set(request.id, request)
    changed.push(request)
  }
  return { requests, changed }
}

/** By `created`, then by id, as the server pages. */
export function newestFirst(a: ProcessedRequest, b: ProcessedRequest): number {
  return compare(b.created, a.created) || compare(b.id, a.id)
}

async function reload(): Promise<void> {
  const mine = closeStream
  try {
    const page = await api(listRequests, { limit: pageSize })
    if (mine === closeStream) takePage(page, false)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (mine === closeStream && $historyStatus.get().status === 'loading') {
      $historyStatus.set({ status: 'failed', error })
    }
  }
}

function takePage(page: ProcessedRequest[], isNext: boolean): void {
  const before = $historyStatus.get()
  const last = page.at(-1)
  // A first page whose oldest request is unknown leaves a gap behind it, which the pages then close.
  const isGap = last !== undefined && !paged.has(last.id)
  for (const { id } of page) paged.add(id)
  addRequests(page)
  if (!isNext && before.status === 'ready' && !isGap) return
  if (last) cursor = last.id
  $historyStatus.set({ status: 'ready', hasMore: page.length === pageSize, more: 'idle' })
}

function parse(data: string): ProcessedRequest | undefined {
  try {
    return ProcessedRequest.parse(JSON.parse(data))
  } catch {
    // A page may be a release older than the API; what it cannot read waits for the next load.
    return undefined
  }
}

function reset(): void {
  closeStream?.()
  closeStream = undefined
  known = new Map()
  cursor = undefined
  paged.clear()
  $requests.set([])
  $historyStatus.set({ status: 'idle' })
  $streamState.set('connecting')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
