import { atom } from 'nanostores'
import type { Deposit } from '../../contract/deposits.ts'
import { AppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { environment } from '../environment.ts'
import {
  $session,
  api,
  apiOrigin,
  handleAuthError,
  onSignOut,
  sessionToken,
  sharedName
} from '../sessions.ts'
import { joinTabGroup, type TabGroup } from '../tab-leader.ts'
import type { StreamState } from './event-stream.ts'
import { isFiltered, isSameFilter, matcherOf, type RequestFilter } from './request-filter.ts'
import { createRequestList, holdStill, placeOf, type RequestList } from './request-list.ts'
import type { News } from './request-stream.ts'

export type { StreamState }

/** What the filter leaves of the person's history, newest first, each request once. */
export const $requests = atom<readonly ProcessedRequest[]>([])

export const $filter = atom<RequestFilter>({})

export type HistoryStatus =
  | { status: 'idle' }
  | { status: 'loading' }
  | { status: 'ready'; hasMore: boolean; more: 'idle' | 'loading' | { error: AppError } }
  | { status: 'failed'; error: AppError }

export const $historyStatus = atom<HistoryStatus>({ status: 'idle' })
export const $streamState = atom<StreamState>('connecting')

const firstPage = 50
/** As many as the server gives, for people who scroll far. */
const nextPage = 200

const listeners = new Set<(request: ProcessedRequest) => void>()
/** All that has been heard of, whatever the filter. */
let known: RequestList = createRequestList()

/** How far the pages of the present filter have come. */
interface Paging {
  /** Oldest request up to which the pages are complete; events may bring single older ones. */
  cursor?: string
  /** Ids that pages brought; an event may bring one that lies in a gap. */
  ids: Set<string>
}
let paging: Paging = { ids: new Set() }
/** The tabs of this person, of which one has the stream. */
let team: TabGroup | undefined
/** Sequence up to which everything has been seen, by the own stream or by that of the leader. */
let seen: string | undefined
/** Counts the teams, so that an answer for an earlier one is dropped. */
let visit = 0
let isCatchingUp = false
/** The visit whose team has been joined, or is being. */
let joined: number | undefined

onSignOut(reset)

/** Runs for each request that is new or has changed, wherever the news came from. */
export function onRequest(run: (request: ProcessedRequest) => void): () => void {
  listeners.add(run)
  return () => listeners.delete(run)
}

/**
 * Follows the requests: by the one stream of this browser, which this or another tab has open. The
 * list is loaded once that is on, so that nothing falls between.
 */
export function loadRequests(): void {
  if (joined === visit || $session.get().status === 'out') return
  joined = visit
  $historyStatus.set({ status: 'loading' })
  void join()
}

async function join(): Promise<void> {
  const mine = visit
  const loading = import('./request-stream.ts')
  const stream = await loading.catch((cause: unknown) => {
    return new AppError('offline', 'The stream could not be loaded', { cause })
  })
  if (mine !== visit) return
  if (stream instanceof AppError) {
    joined = undefined
    $historyStatus.set({ status: 'failed', error: stream })
    return
  }
  team = joinTabGroup({
    name: sharedName('stream'),
    environment: environment(),
    lead: () => lead(stream),
    follow: () => {
      if ($historyStatus.get().status === 'loading') void reload()
    },
    onNews(message) {
      const news = stream.readNews(message)
      if (news) hear(news)
    },
    greeting: () => newsOf({ at: seen, before: seen })
  })
}

/** Has the one stream of this browser open, and passes on what it brings. */
function lead({ openRequestStream }: typeof import('./request-stream.ts')): () => void {
  return openRequestStream({
    origin: apiOrigin(),
    environment: environment(),
    after: seen,
    token: sessionToken,
    onState(state) {
      if (state === $streamState.get()) return
      $streamState.set(state)
      team?.say(newsOf({}))
    },
    onRequest(request) {
      addRequests([request])
      team?.say(newsOf({ request }))
    },
    onSeen({ before, at }) {
      seen = at
      team?.say(newsOf({ before, at }))
    },
    onReload() {
      team?.say(newsOf({ reload: true }))
      void reload()
    },
    onError(error, token) {
      handleAuthError(error, token)
      // A list without its stream is still worth showing.
      if ($historyStatus.get().status === 'loading') void reload()
    }
  })
}

function newsOf(news: Omit<News, 'state'>): News {
  return { state: $streamState.get(), ...news }
}

/** What a follower makes of the leader's words. */
function hear({ state, at, before, request, reload: isStale }: News): void {
  $streamState.set(state)
  if (request) addRequests([request])
  if (isStale) void reload()
  if (at === undefined) return
  const isNews = seen === undefined || Number(at) > Number(seen)
  // The leader goes on from where this tab has not been: something was said while it slept.
  if (seen !== undefined && isNews && before !== seen) void catchUp(at)
  else if (isNews) seen = at
}

async function catchUp(at: string): Promise<void> {
  if (isCatchingUp) return
  isCatchingUp = true
  if (await reload()) seen = at
  isCatchingUp = false
}

/** Reduces the list: at once to what is known of it, then to what the server says. */
export function setFilter(filter: RequestFilter): void {
  if (isSameFilter(filter, $filter.get())) return
  $filter.set(filter)
  paging = { ids: new Set() }
  show()
  if (!team) return
  $historyStatus.set({ status: 'loading' })
  void reload()
}

/** The newest state of a request that has been heard of. */
export function findRequest(id: string): ProcessedRequest | undefined {
  return known.get(id)
}

export interface RequestDetails {
  request: ProcessedRequest
  /** Of a recorded deposit. */
  deposit?: Deposit
}

/** All that is known of one request: from the list where it is there, and of the record. */
export async function loadDetails(id: string): Promise<RequestDetails> {
  const request = findRequest(id) ?? (await api('getRequest', { id }))
  if (request.kind !== 'deposit' || request.state !== 'done' || !request.deposit_id) {
    return { request }
  }
  return { request, deposit: await api('getDeposit', { id: request.deposit_id }) }
}

/** Returns the rows of `before` in their newest state, and the `present` ones older than the first. */
export function heldRows(
  before: readonly ProcessedRequest[],
  present: readonly ProcessedRequest[]
): readonly ProcessedRequest[] {
  return holdStill(before, present, findRequest)
}

/** Returns how many of the requests are newer than the one shown first. */
export function countNewer(
  requests: readonly ProcessedRequest[],
  first: ProcessedRequest | undefined
): number {
  return first ? placeOf(requests, first) : 0
}

/** Tries the first page again after a failure. */
export async function retryRequests(): Promise<void> {
  if (!team) return loadRequests()
  $historyStatus.set({ status: 'loading' })
  await reload()
}

export async function loadMoreRequests(): Promise<void> {
  const before = $historyStatus.get()
  if (before.status !== 'ready' || before.more === 'loading' || !before.hasMore) return
  $historyStatus.set({ ...before, more: 'loading' })
  const mine = paging
  const from = mine.cursor
  try {
    const page = await api('listRequests', {
      limit: nextPage,
      ...(from ? { cursor: from } : {}),
      ...$filter.get()
    })
    if (mine !== paging) return
    // a reload has found a gap meanwhile: this page lies behind it, and is asked for again in its turn
    if (from === mine.cursor) takePage(page, nextPage, true)
    else addRequests(page)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (mine === paging) $historyStatus.set({ ...before, more: { error } })
  }
}

/** Takes up what is newer than what is known, by id and sequence. */
function addRequests(incoming: readonly ProcessedRequest[]): void {
  const changed = known.merge(incoming)
  if (changed.length === 0) return
  show()
  for (const request of changed) {
    for (const run of listeners) run(request)
  }
}

function show(): void {
  const filter = $filter.get()
  $requests.set(isFiltered(filter) ? known.all().filter(matcherOf(filter)) : known.all())
}

/** Answers whether the list came. */
async function reload(): Promise<boolean> {
  const mine = paging
  const filter = $filter.get()
  try {
    const [page, newest] = await Promise.all([
      api('listRequests', { limit: firstPage, ...filter }),
      // what has changed outside the filter: others than this page listen too
      isFiltered(filter) ? api('listRequests', { limit: firstPage }) : []
    ])
    if (mine !== paging) return false
    addRequests(newest)
    takePage(page, firstPage, false)
    return true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (mine === paging && $historyStatus.get().status === 'loading') {
      $historyStatus.set({ status: 'failed', error })
    }
    return false
  }
}

function takePage(page: ProcessedRequest[], size: number, isNext: boolean): void {
  const before = $historyStatus.get()
  const last = page.at(-1)
  // A first page whose oldest request is unknown leaves a gap behind it, which the pages then close.
  const isGap = last !== undefined && !paging.ids.has(last.id)
  for (const { id } of page) paging.ids.add(id)
  addRequests(page)
  if (!isNext && before.status === 'ready' && !isGap) return
  if (last) paging.cursor = last.id
  $historyStatus.set({ status: 'ready', hasMore: page.length === size, more: 'idle' })
}

function reset(): void {
  visit += 1
  team?.leave()
  team = undefined
  seen = undefined
  known = createRequestList()
  paging = { ids: new Set() }
  $filter.set({})
  $requests.set([])
  $historyStatus.set({ status: 'idle' })
  $streamState.set('connecting')
}
