import { getReceipt } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { foldText } from '../../core/text/search-words.ts'
import type { Tx } from '../db/scope.ts'
import type { Deps } from './deps.ts'

type Facts = Omit<
  ProcessedRequest,
  'id' | 'kind' | 'created' | 'seq' | 'state' | 'code' | 'receipt'
>

export interface RequestStateToRecord {
  id: string
  user_id: string
  kind: ProcessedRequest['kind']
  state: ProcessedRequest['state']
  code?: string
  created: Date
  facts: Facts
}

export interface NewLeaf {
  /** The request whose record it is, if it is one of a request. */
  request_id?: string
  /** Name of the log to which the leaf's commitments belong. */
  origin: string
  leaf_id: string
  leaf: string
  hash: Uint8Array
}

/**
 * Writes the audit entries, then the states of requests with their events, and the leaves. Must be
 * last: other calls of the company wait for the heads of both logs, and every transaction locks the
 * audit head first, so that no two wait for each other.
 */
export async function finishWithLogs<const States extends readonly RequestStateToRecord[]>(
  tx: Tx,
  deps: Pick<Deps, 'signals' | 'clock'>,
  { states, leaves = [] }: { states: States; leaves?: readonly NewLeaf[] }
): Promise<{ [At in keyof States]: ProcessedRequest }> {
  const company = tx.companyId
  const requests = states.map(state =>
    requestOf({ ...state, code: state.code ?? null, created_at: state.created })
  )
  const of = <Value>(read: (state: RequestStateToRecord) => Value) => states.map(read)
  const places = of(({ id }) => leaves.findIndex(leaf => leaf.request_id === id) + 1 || null)
  await tx.writeAuditEntries()
  const [head] = await tx.raw<{ event_seq: number; leaf_seq: number }>({
    text: takeHeadSql,
    values: [
      company,
      deps.clock(),
      states.length,
      of(state => state.id),
      of(state => state.user_id),
      of(state => state.kind),
      of(state => state.state),
      of(state => state.code ?? null),
      of(state => state.created),
      of(state => JSON.stringify(state.facts)),
      requests.map(request => JSON.stringify(request)),
      of(({ facts }) => (facts.name === undefined ? null : foldText(facts.name))),
      of(state => state.facts.category_id ?? null),
      leaves.length,
      leaves.map(({ leaf_id }) => leaf_id),
      leaves.map(({ leaf }) => leaf),
      leaves.map(({ hash }) => Buffer.from(hash)),
      places,
      leaves[0]?.origin ?? null
    ]
  })
  // `retire` began another log after the names of this one were read
  if (!head) throw new AppError('unavailable', 'The log of this company has just been replaced')
  const first = head.event_seq - states.length + 1
  const users = new Set(of(state => state.user_id))
  tx.afterCommit(() => {
    for (const user of users) deps.signals.events.send({ company, user })
    if (leaves.length > 0) deps.signals.leaves.send(company)
  })
  const numbered = requests.map((request, at) => {
    const place = places[at] ?? undefined
    const leaf_index = place && head.leaf_seq - leaves.length + place
    return { ...request, seq: first + at, ...(leaf_index && { leaf_index }) }
  })
  return numbered as { [At in keyof States]: ProcessedRequest } // as: one for each state
}

// The head stays locked until the commit, so that the committed indexes have no gap. Index 0 is that
// of the policy.
const takeHeadSql = `
  with head as (
    update log_head set
      event_seq = event_seq + $3::bigint,
      leaf_seq = leaf_seq + $14::bigint
    where company_id = $1 and ($19::text is null or origin = $19)
    returning event_seq, leaf_seq, log_no
  ), change as (
    select head.event_seq - $3::bigint + nth as seq,
      head.leaf_seq - $14::bigint + place as leaf_index, given.*
    from head, unnest(
      $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::jsonb[],
      $11::jsonb[], $12::text[], $13::uuid[], $18::bigint[]
    ) with ordinality as given (
      id, user_id, kind, state, code, created_at, facts, payload, search_name, category_id, place, nth
    )
  ), changed as (
    insert into request (
      company_id, id, user_id, kind, state, code, seq, created_at, facts, search_name, category_id
    )
    select $1, id, user_id, kind, state, code, seq, created_at, facts, search_name, category_id
    from change
    on conflict (company_id, id) do update
      set state = excluded.state, code = excluded.code, seq = excluded.seq, facts = excluded.facts,
          search_name = excluded.search_name, category_id = excluded.category_id
  ), recorded as (
    insert into event (company_id, seq, user_id, request_id, payload, created_at)
    select $1, seq, user_id, id,
      payload || jsonb_strip_nulls(jsonb_build_object('seq', seq, 'leaf_index', leaf_index)), $2
    from change
  ), appended as (
    insert into log_leaf (company_id, log_no, idx, leaf_id, leaf, hash)
    select $1, head.log_no, head.leaf_seq - $14::bigint + nth, leaf_id, leaf, hash
    from head, unnest($15::text[], $16::text[], $17::bytea[])
      with ordinality as given (leaf_id, leaf, hash, nth)
  )
  select event_seq, leaf_seq from head`

export function requestOf(row: {
  id: string
  kind: string
  state: string
  code: string | null
  created_at: Date
  facts: object
}): Omit<ProcessedRequest, 'seq'> {
  const { id, kind, state, code, created_at } = row
  const facts: Facts = row.facts
  return {
    id,
    kind: kind as ProcessedRequest['kind'], // as: both columns are checked by the table
    created: created_at.toISOString(),
    state: state as ProcessedRequest['state'],
    ...(code === null ? {} : { code }),
    ...facts,
    ...(state === 'done' && facts.deposit_id !== undefined
      ? { receipt: getReceipt.path.replace('{id}', facts.deposit_id) }
      : {})
  }
}
