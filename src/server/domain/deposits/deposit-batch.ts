import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { deleteInCompany, selectInCompany, updateInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { chooseCategoryIfNoneNamed } from '../companies/categories.ts'
import type { CompanyId, Deps, StagedFileId } from '../deps.ts'
import { keyedHashOf } from '../evidence/company-keys.ts'
import { readRequest } from '../history/requests.ts'
import {
  claimIdempotencyKeys,
  idempotencyKeyReusedError,
  releaseIdempotencyKeys,
  storeIdempotentResponses
} from '../idempotency/idempotency.ts'
import { newId, newRandomId } from '../ids.ts'
import { chargeDepositsToGroups, planDepositCharges } from '../limits/quotas.ts'
import {
  type CategoryRules,
  readCategoryRules,
  requireAllowedType,
  requireSizeAllowedByService
} from './category-rules.ts'
import {
  type NamesInDepositRecord,
  type NewDepositRecord,
  readNamesForRecord,
  recordDeposits
} from './deposit-records.ts'
import {
  type CreateDepositResult,
  historyFactsOf,
  type NewDeposit,
  requireConsistentTransform
} from './new-deposits.ts'
import { deleteFilesIfUnreferenced } from './unreferenced-files.ts'
import { encryptDigest } from './upload-digests.ts'
import { digestOfStoredFile } from './upload-settlement.ts'

const movesAtOnce = 4

/**
 * One file of `POST /deposit/batch`. Its bytes are on disk and match the announced fingerprint.
 * `key` is the idempotency key of this file.
 */
export interface StagedBatchItem {
  key: string
  deposit: NewDeposit
  staged: StagedFileId
}

/** The answer to one file of a batch: what `POST /deposit` would return for it, or the error. */
export type BatchItemAnswer = { body: CreateDepositResult; replayed: boolean } | AppError

interface BatchInput {
  company_id: CompanyId
  user_id: string
  /** Id of the caller: a person or an API key. Each has idempotency keys of its own. */
  actor: string
  items: readonly StagedBatchItem[]
}

/**
 * A file of a batch, with its digests and the tag (keyed hash) under which its bytes are stored.
 */
interface Candidate {
  item: StagedBatchItem
  /** The index of the file in the batch. */
  at: number
  original: Buffer
  stored: Buffer
  blobTag: Buffer
  /**
   * The inode number of the damaged file that this file must replace: a stored copy of the same
   * content whose bytes have changed on disk. Undefined if there is none.
   */
  damaged: number | undefined
}

/** A file of a batch that has not been refused so far. */
interface Accepted extends Candidate {
  category: string
  rules: CategoryRules
}

/**
 * Deposits the files of a batch in one transaction. Returns an answer for each file, in the same
 * order. A refused file stores and charges nothing and does not affect the others. When this
 * function returns, the deposits are recorded. The transaction locks rows in the same order as
 * other transactions, to avoid deadlocks: idempotency keys, rows of files, usage, and finally the
 * row of the evidence log in `log_head`.
 */
export async function depositBatch(deps: Deps, input: BatchInput): Promise<BatchItemAnswer[]> {
  const { company_id } = input
  const candidates = await Promise.all(input.items.map((item, at) => candidateOf(deps, item, at)))
  const { answers, orphans } = await inCompany(deps.db, company_id, tx =>
    new Batch(tx, deps, input, candidates).run()
  )
  if (orphans.length > 0) {
    // if this fails, the hourly check deletes the files later
    await deleteFilesIfUnreferenced(deps, company_id, orphans).catch((error: unknown) => {
      deps.log.warn(
        { company: company_id, err: error },
        'files of refused deposits of a batch could not be deleted: a job deletes them later'
      )
    })
  }
  return answers
}

async function candidateOf(deps: Deps, item: StagedBatchItem, at: number): Promise<Candidate> {
  const { company_id } = item.staged
  const original = Buffer.from(item.deposit.original, 'hex')
  const stored = Buffer.from(item.deposit.stored, 'hex')
  const { lookup } = await deps.companyKeys.open(company_id)
  const blobTag = keyedHashOf(lookup, 'blob', stored)
  const kept = await digestOfStoredFile(deps, company_id, blobTag)
  const damaged = kept && !kept.sha256.equals(stored) ? kept.inode : undefined
  return { item, at, original, stored, blobTag, damaged }
}

const route = 'POST /deposit'

/** One attempt to run the transaction of a batch. A repeated attempt uses a new instance. */
class Batch {
  readonly #tx: Tx
  readonly #deps: Deps
  readonly #input: BatchInput
  readonly #candidates: readonly Candidate[]
  readonly #answers: (BatchItemAnswer | undefined)[] = []
  /** Maps the index of an item to the index of the earlier item with the same idempotency key. */
  readonly #sameKey = new Map<number, number>()
  /** Maps the index of an item to the index of the earlier item with the same file. */
  readonly #sameFile = new Map<number, number>()
  /** Maps the index of an item to the id of the group that pays for the item. */
  readonly #payers = new Map<number, string>()
  readonly #now: Date

  constructor(tx: Tx, deps: Deps, input: BatchInput, candidates: readonly Candidate[]) {
    this.#tx = tx
    this.#deps = deps
    this.#input = input
    this.#candidates = candidates
    this.#now = deps.clock()
  }

  async run(): Promise<{ answers: BatchItemAnswer[]; orphans: Buffer[] }> {
    const claimed = await this.#claim()
    const allowed = await this.#checkRules(claimed)
    const fresh = await this.#findEarlier(allowed)
    const foreseen = await this.#charge(fresh, planDepositCharges)
    const names = await this.#readNames(foreseen)
    await this.#keepFiles(foreseen)
    const charged = await this.#charge(foreseen, chargeDepositsToGroups)
    const refused = foreseen.filter(each => !charged.includes(each))
    await this.#giveUpFiles(refused)
    const requests = await this.#record(charged, names, claimed)
    for (const [place, { at }] of charged.entries()) {
      const request = requests[place]
      if (request) this.#answers[at] = { body: { request }, replayed: false }
    }
    this.#answerRepeated()
    await this.#storeAnswers(claimed)
    const answers = this.#candidates.map(({ at }) => {
      return this.#answers[at] ?? new AppError('internal', 'An item was left without an answer')
    })
    return { answers, orphans: refused.filter(isKept).map(({ blobTag }) => blobTag) }
  }

  get #scope() {
    const { company_id, actor } = this.#input
    return { company_id, actor, route, now: this.#now }
  }

  /**
   * Claims the idempotency keys of the batch, so that no other call can use them. Returns the items
   * that have a new key. Handles the other items as follows:
   * - If an earlier call has used the key of an item, the item gets the stored answer of that call,
   *   or an error.
   * - If an item has the same key as an earlier item of the batch and is the same deposit, notes
   *   the earlier item in `#sameKey`.
   * - If an item has the same key as an earlier item but is another deposit, it gets an error.
   */
  async #claim(): Promise<Candidate[]> {
    const firstOf = new Map<string, Candidate>()
    for (const candidate of this.#candidates) {
      const { at, item } = candidate
      const first = firstOf.get(item.key)
      if (!first) firstOf.set(item.key, candidate)
      else if (JSON.stringify(first.item.deposit) === JSON.stringify(item.deposit)) {
        this.#sameKey.set(at, first.at)
      } else this.#answers[at] = idempotencyKeyReusedError()
    }
    const own = [...firstOf.values()]
    const calls = own.map(({ item }) => ({ key: item.key, input: item.deposit }))
    const outcomes = await claimIdempotencyKeys<CreateDepositResult>(
      this.#tx,
      this.#deps,
      this.#scope,
      calls
    )
    return own.filter(({ at }, place) => {
      const outcome = outcomes[place]
      if (outcome === 'claimed') return true
      if (outcome instanceof AppError) this.#answers[at] = outcome
      else if (outcome) this.#answers[at] = { ...outcome, replayed: true }
      return false
    })
  }

  async #checkRules(candidates: Candidate[]): Promise<Accepted[]> {
    const read = new Map<
      string | undefined,
      { category: string; rules: CategoryRules } | AppError
    >()
    const accepted: Accepted[] = []
    for (const candidate of candidates) {
      const { deposit } = candidate.item
      try {
        requireConsistentTransform(deposit)
        requireSizeAllowedByService(this.#deps, deposit)
        const found =
          read.get(deposit.category) ?? (await this.#readRules(deposit.category).catch(asRefusal))
        read.set(deposit.category, found)
        if (found instanceof AppError) throw found
        requireAllowedType(found.rules, deposit)
        accepted.push({ ...candidate, ...found })
      } catch (error) {
        this.#answers[candidate.at] = asRefusal(error)
      }
    }
    return accepted
  }

  async #readRules(named: string | undefined) {
    const { company_id, user_id } = this.#input
    const category = named ?? (await chooseCategoryIfNoneNamed(this.#tx, { company_id, user_id }))
    return { category, rules: await readCategoryRules(this.#tx, { company_id, user_id, category }) }
  }

  /**
   * Returns the items that must be deposited: those whose file is new, and those with `again`. The
   * others are left out. If the person has deposited an item's file before or is uploading it, this
   * stores the answer to the item. If an earlier item of the batch has the same file, `#sameFile`
   * notes the earlier item, and the later one is answered when the batch has been recorded.
   */
  async #findEarlier(accepted: Accepted[]): Promise<Accepted[]> {
    const asked = accepted.filter(({ item }) => !item.deposit.again)
    const open = await this.#findOpen(asked)
    const own = await this.#findOwn(asked)
    const firstOf = new Map<string, number>()
    return accepted.filter(each => {
      const { at, item } = each
      const { original, again } = item.deposit
      const opened = again ? undefined : open.get(at)
      const duplicate = again ? undefined : own.get(at)
      const first = again ? undefined : firstOf.get(original)
      if (opened) this.#answers[at] = { body: opened, replayed: false }
      else if (duplicate) this.#answers[at] = { body: { duplicate }, replayed: false }
      else if (first !== undefined) this.#sameFile.set(at, first)
      else firstOf.set(original, firstOf.get(original) ?? at)
      return !opened && !duplicate && first === undefined
    })
  }

  /**
   * Returns the answers to items whose file the person is already uploading. The keys of the map
   * are the indexes of the items.
   */
  async #findOpen(asked: Accepted[]): Promise<Map<number, CreateDepositResult>> {
    const { user_id } = this.#input
    const seal = (digest: Buffer) => encryptDigest(this.#deps.keys, this.#input, digest)
    const sealed = asked.map(({ original, stored }) => ({
      original: seal(original),
      stored: seal(stored)
    }))
    const rows = await selectInCompany(this.#tx, 'upload')
      .where('user_id', '=', user_id)
      .where(sql<boolean>`original = any(${sealed.map(({ original }) => original)}::bytea[])`)
      .where('state', '=', 'uploading')
      .orderBy('active_at', 'desc')
      .select(['id', 'request_id', 'original', 'stored', 'category_id'])
      .execute()
    const found = asked.flatMap(({ at, category }, place) => {
      const own = sealed[place]
      const row = rows.find(
        ({ original, stored, category_id }) =>
          own &&
          original?.equals(own.original) &&
          stored?.equals(own.stored) &&
          category_id === category
      )
      return row ? [{ at, row }] : []
    })
    const requests = await this.#readRequests(found.map(({ row }) => row.request_id))
    return new Map(
      found.flatMap(({ at, row }) => {
        const request = requests.get(row.request_id)
        return request ? [[at, { request, upload: `/uploads/${row.id}`, continued: true }]] : []
      })
    )
  }

  /**
   * Finds the items whose file the person has deposited before. Returns a map from the index of
   * each such item to the newest earlier deposit of the file, as an entry of the history.
   */
  async #findOwn(asked: Accepted[]): Promise<Map<number, ProcessedRequest>> {
    const { user_id } = this.#input
    const { lookup } = await this.#deps.companyKeys.read(this.#tx)
    const tags = asked.map(({ original }) => keyedHashOf(lookup, 'sha256', original))
    const rows = await selectInCompany(this.#tx, 'lookup_tag')
      .innerJoin('deposit', join => joinInCompany(join, 'deposit.id', 'lookup_tag.record_ref'))
      .where('lookup_tag.user_id', '=', user_id)
      .where(sql<boolean>`lookup_tag.tag = any(${tags}::bytea[])`)
      .where('lookup_tag.which', '=', 'original')
      .distinctOn('lookup_tag.tag')
      .orderBy('lookup_tag.tag')
      // recorded to the second; ids of requests grow with time
      .orderBy('deposit.recorded_at', 'desc')
      .orderBy('deposit.request_id', 'desc')
      .select(['lookup_tag.tag', 'deposit.request_id'])
      .execute()
    const idOf = new Map(rows.map(row => [row.tag.toString('hex'), row.request_id]))
    const requests = await this.#readRequests([...idOf.values()])
    return new Map(
      asked.flatMap(({ at }, place) => {
        const request = requests.get(idOf.get(tags[place]?.toString('hex') ?? '') ?? '')
        return request ? [[at, request]] : []
      })
    )
  }

  async #readRequests(ids: string[]): Promise<Map<string, ProcessedRequest>> {
    const { user_id } = this.#input
    const found = new Map<string, ProcessedRequest>()
    for (const id of ids) found.set(id, await readRequest(this.#tx, { user_id, id }))
    return found
  }

  /**
   * Charges the items to the person's groups. `charge` is `chargeDepositsToGroups`, or
   * `planDepositCharges` to only predict the result. Returns the items for which the groups have
   * enough left. Sets the error as the answer to every other item.
   */
  async #charge(items: Accepted[], charge: typeof chargeDepositsToGroups): Promise<Accepted[]> {
    if (items.length === 0) return []
    const { company_id, user_id } = this.#input
    const charges = items.map(each => ({
      category_id: each.category,
      bytes: isKept(each) ? each.item.deposit.size : 0
    }))
    const outcomes = await charge(this.#tx, { company_id, user_id, charges, now: this.#now })
    return items.filter(({ at }, place) => {
      const outcome = outcomes[place]
      if (outcome instanceof AppError) this.#answers[at] = outcome
      else if (outcome !== undefined) this.#payers.set(at, outcome)
      return !(outcome instanceof AppError)
    })
  }

  async #readNames(items: Accepted[]): Promise<Map<string, NamesInDepositRecord>> {
    const { company_id, user_id } = this.#input
    const categories = [...new Set(items.map(({ category }) => category))]
    const names = new Map<string, NamesInDepositRecord>()
    for (const category_id of categories) {
      names.set(
        category_id,
        await readNamesForRecord(this.#tx, { company_id, user_id, category_id })
      )
    }
    return names
  }

  /**
   * Writes and thereby locks the rows of the items' files in the table `blob`. Moves the files to
   * their final paths. Leaves out items of which only the fingerprint is stored.
   */
  async #keepFiles(items: Accepted[]): Promise<void> {
    const kept = items.filter(isKept)
    if (kept.length === 0) return
    const { company_id } = this.#input
    const byTag = Map.groupBy(kept, ({ blobTag }) => blobTag.toString('hex'))
    const rows = [...byTag.values()].flatMap(same => {
      const [first] = same
      return first ? [{ tag: first.blobTag, size: first.item.deposit.size, refs: same.length }] : []
    })
    await sql`
      insert into blob (company_id, tag, size, refs, created_at)
      select ${company_id}::uuid, tag, size, refs, ${this.#now}::timestamptz
      from unnest(
        ${rows.map(({ tag }) => tag)}::bytea[], ${rows.map(({ size }) => size)}::bigint[],
        ${rows.map(({ refs }) => refs)}::int[]
      ) as file (tag, size, refs)
      order by tag
      on conflict (company_id, tag) do update set refs = blob.refs + excluded.refs`.execute(
      this.#tx
    )
    const queue = kept.values()
    const moveNext = async () => {
      for (const { item, blobTag, damaged } of queue) {
        await this.#deps.blobs.keep(item.staged, blobTag, damaged)
      }
    }
    await Promise.all(Array.from({ length: movesAtOnce }, moveNext))
  }

  /**
   * Undoes what `#keepFiles` wrote to the database for `items`. These items passed the checks, but
   * could not be charged, because parallel calls had used up the quota. Does not delete files:
   * after the transaction, `depositBatch` deletes those that nothing else refers to.
   */
  async #giveUpFiles(items: Accepted[]): Promise<void> {
    for (const { blobTag } of items.filter(isKept)) {
      await updateInCompany(this.#tx, 'blob')
        .set({ refs: sql`refs - 1` })
        .where('tag', '=', blobTag)
        .execute()
      await deleteInCompany(this.#tx, 'blob')
        .where('tag', '=', blobTag)
        .where('refs', '=', 0)
        .execute()
    }
  }

  /**
   * Records the deposits of the charged items and returns their requests (entries of the history).
   * Frees the idempotency keys of refused items.
   */
  async #record(
    charged: Accepted[],
    names: Map<string, NamesInDepositRecord>,
    claimed: Candidate[]
  ): Promise<ProcessedRequest[]> {
    const refused = claimed.filter(({ at }) => this.#isRefused(at))
    if (refused.length > 0) {
      await releaseIdempotencyKeys(
        this.#tx,
        this.#scope,
        refused.map(({ item }) => item.key)
      )
    }
    if (charged.length === 0) return []
    // sorted, because all are created in the same millisecond and the history shows requests in the
    // order of their ids
    const ids = charged.map(() => newId(this.#deps)).toSorted()
    return recordDeposits(
      this.#tx,
      this.#deps,
      charged.map((each, place) =>
        this.#recordOf(each, names.get(each.category), ids[place] ?? newId(this.#deps))
      )
    )
  }

  #recordOf(
    each: Accepted,
    names: NamesInDepositRecord | undefined,
    request_id: string
  ): NewDepositRecord {
    if (!names) throw new Error('a record lacks its names')
    const { company_id, user_id } = this.#input
    const { category, original, stored, blobTag } = each
    const { deposit } = each.item
    const record_id = newRandomId(this.#deps)
    const facts = historyFactsOf({ ...deposit, category }, record_id)
    return {
      ...{ company_id, user_id, record_id, request_id, names, original, category_id: category },
      size: deposit.size,
      media_type: deposit.media_type,
      name: deposit.name,
      kept: isKept(each) ? { stored, blobTag, group_id: this.#payerOf(each) } : undefined,
      transform: deposit.transform ?? null,
      request_created: this.#now,
      request_facts: isKept(each) ? facts : { ...facts, store: 'fingerprint' },
      now: this.#now
    }
  }

  #payerOf({ at }: Accepted): string {
    const group = this.#payers.get(at)
    if (group === undefined) throw new Error('an item was recorded and not charged')
    return group
  }

  /**
   * Returns whether an item was refused. If the item repeats the file of an earlier item, returns
   * whether the earlier item was refused.
   */
  #isRefused(at: number): boolean {
    return this.#answers[this.#sameFile.get(at) ?? at] instanceof AppError
  }

  #answerRepeated(): void {
    for (const [at, first] of this.#sameFile) {
      const answer = this.#answers[first]
      if (answer instanceof AppError) this.#answers[at] = answer
      else if (answer && 'request' in answer.body) {
        this.#answers[at] = { body: { duplicate: answer.body.request }, replayed: false }
      }
    }
    for (const [at, first] of this.#sameKey) {
      const answer = this.#answers[first]
      if (answer)
        this.#answers[at] = answer instanceof AppError ? answer : { ...answer, replayed: true }
    }
  }

  /**
   * Stores the answers for the items' idempotency keys. Sends the statement together with the
   * commit, to save a round trip to the database.
   */
  async #storeAnswers(claimed: Candidate[]): Promise<void> {
    const answers = claimed.flatMap(({ at, item }) => {
      const answer = this.#answers[at]
      return answer && !(answer instanceof AppError) ? [{ key: item.key, body: answer.body }] : []
    })
    if (answers.length > 0) await storeIdempotentResponses(this.#tx, this.#scope, answers)
  }
}

/** Returns an error of ours; throws any other. */
function asRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

function isKept({ rules }: Accepted): boolean {
  return rules.store === 'file'
}
