import type { Deposit } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { browserEnvironment } from '../environment.ts'
import { createListStore, insertionIndex, type PageRequest } from '../lists/lists.ts'
import { personalAtom } from '../personal-atoms.ts'
import {
  $session,
  addSessionEndListener,
  api,
  apiOrigin,
  handleAuthError,
  sessionGeneration,
  sessionToken,
  userLockOrChannelName
} from '../sessions.ts'
import { joinTabGroup, type TabGroupMembership } from '../tab-leader.ts'
import type { StreamConnectionState } from './event-stream.ts'
import { createRequestMatcher, hasAnyFilter, type RequestFilter } from './request-filter.ts'
import type { CrossTabHistoryMessage } from './request-stream.ts'
import { isNewer, movesRecords, type SealingStep, withoutPlace, withSeal } from './seals.ts'

export type { StreamConnectionState }

const listeners = new Set<(request: ProcessedRequest) => void>()

const list = createListStore<ProcessedRequest, RequestFilter>(loadPage, {
  live: {
    compare: compareNewestFirst,
    isNewer,
    matcher: filter => (hasAnyFilter(filter) ? createRequestMatcher(filter) : undefined),
    onChange(changed) {
      for (const request of changed) {
        for (const run of listeners) run(request)
      }
    }
  }
})

export const $requests = list.$rows
export const $requestFilter = list.$query
export const $historyLoadStatus = list.$status
export const $streamConnectionState = personalAtom<StreamConnectionState>('connecting')
export const loadMoreRequests = list.loadMore

/**
 * The newest thousand, or as many as can be loaded. Returns false if the filter has changed
 * meanwhile.
 */
export const loadRequestsToPrint = () => list.loadUpTo(1000)

let tabs: TabGroupMembership | undefined
// this tab has received every event up to this one, from the stream or from the leading tab
let seen: string | undefined
let isCatchingUp = false
// the newest that the stream has told
let sealing: SealingStep | undefined
// the `sessionGeneration()` whose requests this tab loads
let joined: number | undefined

addSessionEndListener(reset)

export function addRequestListener(run: (request: ProcessedRequest) => void): () => void {
  listeners.add(run)
  return () => listeners.delete(run)
}

/**
 * All tabs of a browser use the stream of one. The list is loaded after the stream has opened, so
 * that no change is missed.
 */
export function loadRequests(): void {
  if (joined === sessionGeneration() || $session.get().status === 'out') return
  joined = sessionGeneration()
  $historyLoadStatus.set({ status: 'loading' })
  void join()
}

async function join(): Promise<void> {
  const session = sessionGeneration()
  const loading = import('./request-stream.ts')
  const stream = await loading.catch((cause: unknown) => {
    return new AppError('offline', 'The stream could not be loaded', { cause })
  })
  if (session !== sessionGeneration()) return
  if (stream instanceof AppError) {
    joined = undefined
    $historyLoadStatus.set({ status: 'failed', error: stream })
    return
  }
  tabs = joinTabGroup({
    name: userLockOrChannelName('stream'),
    environment: browserEnvironment(),
    lead: () => lead(stream),
    follow: () => {
      if ($historyLoadStatus.get().status === 'loading') void list.refresh()
    },
    onNews(message) {
      const news = stream.parseCrossTabHistoryMessage(message)
      if (news) applyMessage(news)
    },
    snapshot: () =>
      newsOf({ at: seen, before: seen, sealed: sealing && { ...sealing, from: sealing.size } })
  })
}

function lead({ openRequestStream }: typeof import('./request-stream.ts')): () => void {
  return openRequestStream({
    origin: apiOrigin(),
    environment: browserEnvironment(),
    after: seen,
    token: sessionToken,
    onState(state) {
      if (state === $streamConnectionState.get()) return
      $streamConnectionState.set(state)
      tabs?.send(newsOf({}))
    },
    onRequest(request) {
      list.merge([sealedIfReached(request)])
      tabs?.send(newsOf({ request }))
    },
    onSealed(progress, isFirst) {
      // the log may have been signed several times while there was no connection
      const from = (isFirst ? undefined : sealing?.size) ?? progress.size
      const sealed = { ...progress, from }
      applySealing(sealed)
      tabs?.send(newsOf({ sealed }))
    },
    onSeen({ before, at }) {
      seen = at
      tabs?.send(newsOf({ before, at }))
    },
    onReload() {
      tabs?.send(newsOf({ reload: true }))
      void list.refresh()
    },
    onError(error, token) {
      handleAuthError(error, token)
      // the list is useful even if the stream cannot be loaded
      if ($historyLoadStatus.get().status === 'loading') void list.refresh()
    }
  })
}

function applySealing(step: SealingStep): void {
  const isMoved = movesRecords(sealing, step)
  sealing = step
  list.merge(list.all().map(isMoved ? withoutPlace : sealedIfReached))
  if (isMoved) void list.refresh()
}

/** The copy of a request that a call has returned may be older than what the stream has told. */
export function sealedIfReached(request: ProcessedRequest): ProcessedRequest {
  return withSeal(request, sealing, findRequest(request.id))
}

function newsOf(news: Omit<CrossTabHistoryMessage, 'state'>): CrossTabHistoryMessage {
  return { state: $streamConnectionState.get(), ...news }
}

function applyMessage({
  state,
  at,
  before,
  request,
  sealed,
  reload: isStale
}: CrossTabHistoryMessage): void {
  $streamConnectionState.set(state)
  if (request) list.merge([sealedIfReached(request)])
  if (sealed) applySealing(sealed)
  if (isStale) void list.refresh()
  if (at === undefined) return
  const isNews = seen === undefined || Number(at) > Number(seen)
  // this tab has missed events, for instance while it was frozen
  if (seen !== undefined && isNews && before !== seen) void catchUp(at)
  else if (isNews) seen = at
}

async function catchUp(at: string): Promise<void> {
  if (isCatchingUp) return
  isCatchingUp = true
  if (await list.refresh()) seen = at
  isCatchingUp = false
}

/** Shows the matching requests that this tab has, then loads those of the server. */
export function setRequestFilter(filter: RequestFilter): void {
  if (list.setQuery(filter) && tabs) void list.load()
}

/** In the newest state that this tab has received. */
export const findRequest = list.find

export interface RequestDetails {
  request: ProcessedRequest
  /** Undefined until it is recorded, and for a verification. */
  deposit?: Deposit
}

export async function fetchRequestDetails(id: string): Promise<RequestDetails> {
  const request = findRequest(id) ?? (await api('getRequest', { id }))
  if (request.kind !== 'deposit' || request.state !== 'done' || !request.deposit_id) {
    return { request }
  }
  return { request, deposit: await api('getDeposit', { id: request.deposit_id }) }
}

/**
 * Keeps the list still while the person reads it: the rows on the screen (`before`), each in its
 * newest state, and those of `present` that are not newer than the first of them.
 */
export function computeShownRows(
  before: readonly ProcessedRequest[],
  present: readonly ProcessedRequest[],
  newest = findRequest
): readonly ProcessedRequest[] {
  const [top] = before
  if (!top) return present
  const shown: ProcessedRequest[] = []
  for (let old = 0, at = insertionIndex(present, top, compareNewestFirst); ; ) {
    const [held, next] = [before[old], present[at]]
    const order = held === next ? 0 : !held ? 1 : !next ? -1 : compareNewestFirst(held, next)
    if (held && order <= 0) shown.push(newest(held.id) ?? held)
    else if (next) shown.push(next)
    else return shown
    if (order <= 0) old += 1
    if (order >= 0) at += 1
  }
}

export function countNewerRequests(
  requests: readonly ProcessedRequest[],
  first: ProcessedRequest | undefined
): number {
  return first ? insertionIndex(requests, first, compareNewestFirst) : 0
}

export async function reloadHistory(): Promise<void> {
  if (!tabs) return loadRequests()
  await list.load()
}

async function loadPage(filter: RequestFilter, page: PageRequest): Promise<ProcessedRequest[]> {
  const session = sessionGeneration()
  const [rows, newest] = await Promise.all([
    api('listRequests', { ...page, ...filter }),
    // listeners of `addRequestListener` also get changes that do not match the filter
    hasAnyFilter(filter) && !page.cursor ? api('listRequests', { limit: page.limit }) : []
  ])
  if (session === sessionGeneration()) list.merge(newest.map(sealedIfReached))
  return rows.map(sealedIfReached)
}

// as the server sorts its pages
export function compareNewestFirst(a: ProcessedRequest, b: ProcessedRequest): number {
  return compare(b.created, a.created) || compare(b.id, a.id)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function reset(): void {
  tabs?.leave()
  tabs = undefined
  seen = undefined
  sealing = undefined
}
