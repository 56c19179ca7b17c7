import { sql } from 'kysely'
import { ProcessedRequest } from '../../contract/requests.ts'
import { inCompany } from '../db/scope.ts'
import type { CompanyId, Deps } from './deps.ts'
import type { Person } from './sessions.ts'

/** News of other processes show after this time even when no hint of them arrives. */
const pollMs = 2000
const pageEvents = 500
const maxHeldEvents = 64
const maxHeldBytes = 256 * 1024

/** What one stream is handed by its company's reader. */
export interface Subscription extends Disposable {
  /**
   * What came since the last question. `behind` is a sequence up to which the stream reads for itself:
   * it joined only now, or was too slow to be waited for.
   */
  take(): { events: ProcessedRequest[]; seen: number; behind: number | undefined }
}

/**
 * Joins the one reader that follows a company's events in this process: one query serves all its
 * streams. `ring` is called when `take` has something.
 */
export function subscribe(deps: Deps, person: Person, ring: () => void): Subscription {
  const readers = readersOf(deps)
  const { company_id } = person
  let reader = readers.get(company_id)
  if (!reader) {
    reader = openReader(deps, company_id, () => readers.delete(company_id))
    readers.set(company_id, reader)
  }
  return reader.join(person.id, ring)
}

interface Reader {
  join(user: string, ring: () => void): Subscription
}

const readersByWakes = new WeakMap<Deps['wakes'], Map<CompanyId, Reader>>()

function readersOf(deps: Deps): Map<CompanyId, Reader> {
  const readers = readersByWakes.get(deps.wakes) ?? new Map<CompanyId, Reader>()
  readersByWakes.set(deps.wakes, readers)
  return readers
}

interface Member {
  user: string
  /** How many had joined by then. */
  joined: number
  ring: () => void
  held: ProcessedRequest[]
  bytes: number
  seen: number
  behind: number | undefined
}

function openReader(deps: Deps, company_id: CompanyId, onEmpty: () => void): Reader {
  /** By person. */
  const members = new Map<string, Set<Member>>()
  let joined = 0
  /** Everything up to here has been handed out; unknown before the first page. */
  let seen: number | undefined
  let isReading = false
  let isAskedAgain = false

  async function read(): Promise<void> {
    if (isReading) {
      isAskedAgain = true
      return
    }
    isReading = true
    try {
      do {
        isAskedAgain = false
        while (await readPage());
      } while (isAskedAgain && members.size > 0)
    } catch (error) {
      // the next beat reads from the same place, so nothing is lost by it
      deps.log.warn({ company: company_id, err: error }, 'events could not be read')
    } finally {
      isReading = false
    }
  }

  /** Hands out one page and answers whether there is another. */
  async function readPage(): Promise<boolean> {
    const isFirst = seen === undefined
    const users = isFirst ? [] : [...members.keys()]
    const asked = joined
    const page = await readCompanyEvents(deps, {
      company_id,
      user_ids: users,
      after: seen ?? 0,
      limit: pageEvents
    })
    seen = page.seen
    const byUser = Map.groupBy(page.events, ({ user_id }) => user_id)
    for (const [user, streams] of members) {
      const events = byUser.get(user) ?? []
      const bytes = events.reduce((sum, { size }) => sum + size, 0)
      for (const member of streams) {
        // Who joined while the page was read may have missed what is in it.
        if (isFirst || member.joined > asked) fallBehind(member, page.seen)
        else hand(member, events, bytes, page.seen)
      }
    }
    return page.events.length === pageEvents
  }

  function hand(member: Member, events: CompanyEvent[], bytes: number, until: number): void {
    member.seen = until
    if (events.length === 0) return
    member.bytes += bytes
    for (const { request } of events) member.held.push(request)
    if (member.held.length > maxHeldEvents || member.bytes > maxHeldBytes) {
      fallBehind(member, until)
    } else member.ring()
  }

  function fallBehind(member: Member, until: number): void {
    Object.assign(member, { held: [], bytes: 0, seen: until, behind: until })
    member.ring()
  }

  const offEvents = deps.wakes.events.on(key => {
    if (key.company === company_id && members.has(key.user)) void read()
  })
  const offMissed = deps.wakes.missed.on(() => void read())
  const beat = setInterval(() => void read(), pollMs)

  return {
    join(user, ring) {
      const none = { held: [], bytes: 0, seen: 0, behind: undefined }
      const member: Member = { user, joined: ++joined, ring, ...none }
      const streams = members.get(user) ?? new Set()
      members.set(user, streams.add(member))
      if (seen === undefined) void read()
      return {
        take() {
          const { held: events, seen, behind } = member
          Object.assign(member, { held: [], bytes: 0, behind: undefined })
          return { events, seen, behind }
        },
        [Symbol.dispose]() {
          streams.delete(member)
          if (streams.size === 0 && members.get(user) === streams) members.delete(user)
          if (members.size > 0) return
          offEvents()
          offMissed()
          clearInterval(beat)
          onEmpty()
        }
      }
    }
  }
}

interface CompanyEvent {
  user_id: string
  request: ProcessedRequest
  /** Of its JSON, about. */
  size: number
}

/** A page of the events of several people after `seq`; `seen` as with `readEvents`. */
async function readCompanyEvents(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_ids: string[]; after: number; limit: number }
): Promise<{ events: CompanyEvent[]; seen: number }> {
  return inCompany(deps.db, input.company_id, async tx => {
    const head = await tx
      .selectFrom('log_head')
      .select('event_seq')
      .where('company_id', '=', input.company_id)
      .executeTakeFirstOrThrow()
    if (head.event_seq <= input.after) return { events: [], seen: head.event_seq }
    const rows = await tx
      .selectFrom('event')
      .select(['seq', 'user_id', 'payload'])
      .where('company_id', '=', input.company_id)
      .where('user_id', '=', sql<string>`any(${input.user_ids}::uuid[])`)
      .where('seq', '>', input.after)
      .where('seq', '<=', head.event_seq)
      .orderBy('seq')
      .limit(input.limit)
      .execute()
    const last = rows.at(-1)
    const events = rows.map(({ user_id, payload }) => ({
      user_id,
      request: ProcessedRequest.parse(payload),
      size: JSON.stringify(payload).length
    }))
    return { events, seen: last && rows.length === input.limit ? last.seq : head.event_seq }
  })
}
