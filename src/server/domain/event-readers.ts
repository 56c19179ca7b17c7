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
  ring: () => void
  held: ProcessedRequest[]
  bytes: number
  seen: number
  behind: number | undefined
}

function openReader(deps: Deps, company_id: CompanyId, onEmpty: () => void): Reader {
  const members = new Set<Member>()
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
    const asked = new Set(members)
    const isFirst = seen === undefined
    const users = isFirst ? [] : [...new Set([...asked].map(({ user }) => user))]
    const page = await readCompanyEvents(deps, {
      company_id,
      user_ids: users,
      after: seen ?? 0,
      limit: pageEvents
    })
    seen = page.seen
    for (const member of members) {
      // Who joined while the page was read may have missed what is in it.
      if (isFirst || !asked.has(member)) fallBehind(member, page.seen)
      else hand(member, page)
    }
    return page.events.length === pageEvents
  }

  function hand(
    member: Member,
    page: { events: { user_id: string; request: ProcessedRequest }[]; seen: number }
  ): void {
    const mine = page.events.filter(({ user_id }) => user_id === member.user)
    for (const { request } of mine) {
      member.held.push(request)
      member.bytes += JSON.stringify(request).length
    }
    member.seen = page.seen
    if (member.held.length > maxHeldEvents || member.bytes > maxHeldBytes) {
      fallBehind(member, page.seen)
    } else if (mine.length > 0) member.ring()
  }

  function fallBehind(member: Member, until: number): void {
    Object.assign(member, { held: [], bytes: 0, seen: until, behind: until })
    member.ring()
  }

  const isHere = (user: string) => [...members].some(member => member.user === user)
  const offEvents = deps.wakes.events.on(key => {
    if (key.company === company_id && isHere(key.user)) void read()
  })
  const offMissed = deps.wakes.missed.on(() => void read())
  const beat = setInterval(() => void read(), pollMs)

  return {
    join(user, ring) {
      const member: Member = { user, ring, held: [], bytes: 0, seen: 0, behind: undefined }
      members.add(member)
      if (seen === undefined) void read()
      return {
        take() {
          const { held: events, seen, behind } = member
          Object.assign(member, { held: [], bytes: 0, behind: undefined })
          return { events, seen, behind }
        },
        [Symbol.dispose]() {
          members.delete(member)
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

/** A page of the events of several people after `seq`; `seen` as with `readEvents`. */
async function readCompanyEvents(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_ids: string[]; after: number; limit: number }
): Promise<{ events: { user_id: string; request: ProcessedRequest }[]; seen: number }> {
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
      request: ProcessedRequest.parse(payload)
    }))
    return { events, seen: last && rows.length === input.limit ? last.seq : head.event_seq }
  })
}
