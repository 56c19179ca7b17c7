import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import {
  maxFingerprintsSignedOut,
  maxFingerprintsWhenSignedIn,
  maxReferences
} from '../../../contract/kit/limits.ts'
import type { MatchedFingerprintKind, Verdict } from '../../../contract/requests.ts'
import type {
  AskedSource,
  OfferedSource,
  SourceAnswer,
  VerificationResult
} from '../../../contract/verifications.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { allowedCategoriesQuery, joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { createBatchLoader } from '../batch-loader.ts'
import type { CompanyId, CompanySecretKeys, Deps, Log, Tenant } from '../deps.ts'
import { companyKeyVersion } from '../evidence/company-keys.ts'
import { rungOf } from '../evidence/seals.ts'
import { finishWithLogs, type RequestStateToRecord } from '../finish-with-logs.ts'
import { newId } from '../ids.ts'
import { countLookupMisses, type ReferenceLookUp } from '../limits/lookup-misses.ts'
import { chargeVerification } from '../limits/quotas.ts'
import { consumeRateLimits } from '../limits/rate-limits.ts'
import {
  type AskedRegisters,
  answerOfRegisters,
  askRegisters,
  missKeyOf,
  type RegisterCaller,
  listOfferedSources as readOfferedSources,
  tagOfItem,
  type VerifiedItem
} from '../registers/register-look-ups.ts'
import { type AuthenticatedCaller, apiKeyOrPersonIdOf } from '../sessions/sessions.ts'

interface VerifyInput {
  tenant: Tenant
  person: AuthenticatedCaller | undefined
  address: string
  items: VerifiedItem[]
}

/** For a signed-in caller, `request_id` is the history entry of this verification. */
export interface VerifyAnswer {
  items: VerificationResult[]
  sources: AskedSource[]
  request_id?: string
}

export type VerifyItems = (input: VerifyInput) => Promise<VerifyAnswer>

/** Parallel calls of signed-out people share SQL statements. */
export function createVerifier(deps: Deps): VerifyItems {
  const lookUpPublic = createPublicLookUp(deps)
  return input => verify(deps, lookUpPublic, input)
}

// Everybody finds `public` deposits. A `private` deposit is found only by administrators and by
// people in a group that may use the deposit's category. Nobody finds `receipt_only` deposits, not
// even their depositor. Nothing is recorded about a signed-out caller.
async function verify(
  deps: Deps,
  lookUpPublic: PublicLookUp,
  input: VerifyInput
): Promise<VerifyAnswer> {
  const { tenant, person, address, items } = input
  requireFewItems(person, items)
  await countItems(deps, input)
  const at = deps.clock()
  const { company_id, config } = tenant
  const keys = await deps.companyKeys.open(company_id)
  const tags = items.map(item => tagOfItem(keys, item))
  const counted = person ? { user_id: person.id } : { address }
  const toAnswer = (found: LookedUp[]) =>
    answerOf(items, tags, found, { keys, company_id, log: deps.log, company: config.company, at })
  const countMisses = (tx: Tx, { items: answers }: VerifyAnswer) =>
    countLookupMisses(tx, deps, counted, referenceLookUps(keys, items, answers))
  if (!person) {
    const answer = toAnswer(await lookUpPublic(company_id, tags))
    if (items.some(isReference)) {
      await inCompany(deps.db, company_id, tx => countMisses(tx, answer))
    }
    return answer
  }
  return inCompany(deps.db, company_id, async tx => {
    const answer = toAnswer(await lookUp(tx, tags, person))
    await countMisses(tx, answer)
    return { ...answer, request_id: await recordCheck(tx, deps, person, answer, at) }
  })
}

function requireFewItems(
  person: AuthenticatedCaller | undefined,
  items: readonly VerifiedItem[]
): void {
  if (items.length > (person ? maxFingerprintsWhenSignedIn : maxFingerprintsSignedOut)) {
    throw new AppError(
      'too_many_items',
      `At most ${maxFingerprintsSignedOut} items, signed in ${maxFingerprintsWhenSignedIn}`
    )
  }
  if (items.filter(isReference).length > maxReferences) {
    throw new AppError('too_many_items', `At most ${maxReferences} references`)
  }
}

function isReference(item: VerifiedItem): item is Exclude<VerifiedItem, { sha256: string }> {
  return !('sha256' in item)
}

interface AnswerContext {
  keys: CompanySecretKeys
  company_id: CompanyId
  log: Log
  company: string
  at: Date
}

function answerOf(
  items: readonly VerifiedItem[],
  tags: readonly Buffer[],
  found: readonly LookedUp[],
  { company, at, ...context }: AnswerContext
): VerifyAnswer {
  const asked = new Map<string, AskedSource>()
  const answers = items.map((item, index): VerificationResult => {
    const { deposits = nothing, registers = noRegisters } = found[index] ?? {}
    const tag = tags[index] ?? Buffer.alloc(0)
    const { findings, records, own } = deposits
    const listed = answerOfRegisters(context, registers, item, tag)
    for (const source of listed.asked) asked.set(source.id, source)
    const has = (result: SourceAnswer['result']) =>
      listed.sources.some(each => each.result === result)
    return {
      ...('sha256' in item ? { sha256: item.sha256 } : {}),
      verdict:
        findings.length > 0
          ? 'authentic'
          : has('found')
            ? 'known_to_register'
            : has('unreachable')
              ? 'indeterminate'
              : 'not_found',
      company,
      at: at.toISOString(),
      findings,
      records,
      ...(own ? { own } : {}),
      sources: listed.sources
    }
  })
  return { items: answers, sources: [...asked.values()] }
}

function referenceLookUps(
  keys: CompanySecretKeys,
  items: readonly VerifiedItem[],
  answers: readonly VerificationResult[]
): ReferenceLookUp[] {
  return items.flatMap((item, index) => {
    if (!isReference(item)) return []
    const isHit = answers[index]?.verdict !== 'not_found'
    return { key: missKeyOf(keys, item), isHit }
  })
}

async function countItems(
  deps: Deps,
  { tenant, person, address, items }: VerifyInput
): Promise<void> {
  const points = items.length
  const { company_id } = tenant
  if (person) {
    const counted = [company_id, apiKeyOrPersonIdOf(person)] as const
    await consumeRateLimits(deps, [['verify_user_minute', counted]], { points })
    return
  }
  await consumeRateLimits(
    deps,
    [
      ['verify_address_minute', [company_id, { address }]],
      ['verify_address_day', [company_id, { address }]],
      ['verify_company_day', [company_id]]
    ],
    { points }
  )
}

// The next statement starts when the running one has ended, or after `slowMs`; one usually takes
// one or two milliseconds. Each of `maxAtOnce` has its own connection.
const bounds = { maxItems: 500, slowMs: 50, maxAtOnce: 4 }

type Found = Pick<VerificationResult, 'findings' | 'records' | 'own'>

const nothing: Found = { findings: [], records: 0 }

interface LookedUp {
  deposits: Found
  // the same for all tags that were looked up together
  registers: AskedRegisters
}

const noRegisters: AskedRegisters = { sources: [], rows: new Map() }

type PublicLookUp = (company_id: CompanyId, tags: Buffer[]) => Promise<LookedUp[]>

// these calls write nothing and can be frequent, so parallel ones share statements
function createPublicLookUp({ db }: Pick<Deps, 'db'>): PublicLookUp {
  const loaders = new Map<CompanyId, (tags: Buffer[]) => Promise<LookedUp[]>>()
  const createLoader = (company_id: CompanyId) =>
    createBatchLoader(
      (tags: Buffer[]) => inCompany(db, company_id, tx => lookUp(tx, tags, undefined)),
      bounds
    )
  return (company_id, tags) => {
    const load = loaders.get(company_id) ?? createLoader(company_id)
    loaders.set(company_id, load)
    return load(tags)
  }
}

async function lookUp(
  tx: Tx,
  tags: Buffer[],
  person: AuthenticatedCaller | undefined
): Promise<LookedUp[]> {
  // sent at once, so that they take one round trip
  const [deposits, registers] = await Promise.all([
    lookUpDeposits(tx, tags, person),
    askRegisters(tx, tags, callerOf(person))
  ])
  return deposits.map(found => ({ deposits: found, registers }))
}

// At most two deposits for each fingerprint: the oldest one whose original matches, and the oldest
// one whose stored copy matches; beside them how many there are, and the oldest one of `person`. A
// single query looks up deposits and permissions, so that the response time does not reveal whether
// a hidden deposit exists.
async function lookUpDeposits(
  tx: Tx,
  tags: Buffer[],
  person: AuthenticatedCaller | undefined
): Promise<Found[]> {
  const caller = { company_id: tx.companyId, user_id: person?.id ?? null }
  const allowed = allowedCategoriesQuery(tx, caller).select('group_category.category_id')
  const isOwn = sql<boolean>`(lookup_tag.user_id = ${person?.id ?? null}::uuid) is true`
  const rows = await selectInCompany(tx, 'lookup_tag')
    .innerJoin('deposit', join => joinInCompany(join, 'deposit.id', 'lookup_tag.record_ref'))
    .innerJoin('log_leaf', join => joinInCompany(join, 'log_leaf.leaf_id', 'deposit.id'))
    .leftJoin('log_state', join => joinInCompany(join, 'log_state.log_no', 'log_leaf.log_no'))
    .where('lookup_tag.scheme', '=', 1)
    .where('lookup_tag.key_version', '=', companyKeyVersion)
    .where('lookup_tag.tag', '=', sql<Buffer>`any(${tags}::bytea[])`)
    .where(
      sql<boolean>`(deposit.visibility = 'public' or deposit.visibility = 'private' and (
        ${isAdministrator(person)}::boolean or deposit.category_id = any (array(${allowed}))))`
    )
    .distinctOn(['lookup_tag.tag', 'lookup_tag.which', sql<boolean>`is_own`])
    .orderBy('lookup_tag.tag')
    .orderBy('lookup_tag.which') // 'original' before 'stored_copy'
    .orderBy(sql`is_own`)
    .orderBy('log_leaf.log_no')
    .orderBy('log_leaf.idx')
    .select(['lookup_tag.tag', 'lookup_tag.which', 'deposit.recorded_at', 'deposit.request_id'])
    .select(['log_leaf.leaf_id', 'log_leaf.log_no', 'log_leaf.idx', 'log_leaf.hash'])
    .select(['log_state.state', 'log_state.published_size'])
    .select(isOwn.as('is_own'))
    // counted before equal rows are left out
    .select(sql<number>`(count(*) over (partition by lookup_tag.tag))::int`.as('records'))
    .execute()
  const byTag = Map.groupBy(rows, row => row.tag.toString('hex'))
  return tags.map(tag => {
    const found = byTag.get(tag.toString('hex')) ?? []
    const [first] = found
    if (!first) return nothing
    const toRecord = (row: (typeof rows)[number]) => {
      const rung = rungOf(row)
      return {
        match: row.which as MatchedFingerprintKind, // as: the column is checked by the table
        recorded: row.recorded_at.toISOString(),
        leaf_hash: row.hash.toString('hex'),
        ...(rung === 'sealed' ? {} : { rung })
      }
    }
    const oldest = found.toSorted((a, b) => a.log_no - b.log_no || a.idx - b.idx)
    const own = oldest.find(row => row.is_own)
    return {
      findings: (['original', 'stored_copy'] as const).flatMap(which => {
        const row = oldest.find(each => each.which === which)
        return row ? [toRecord(row)] : []
      }),
      records: first.records,
      ...(own
        ? { own: { ...toRecord(own), deposit_id: own.leaf_id, request_id: own.request_id } }
        : {})
    }
  })
}

export function listOfferedSources(
  deps: Pick<Deps, 'db'>,
  { company_id }: Tenant,
  person: AuthenticatedCaller | undefined
): Promise<OfferedSource[]> {
  return readOfferedSources(deps, company_id, callerOf(person))
}

function callerOf(person: AuthenticatedCaller | undefined): RegisterCaller {
  return { user_id: person?.id ?? null, isAdministrator: isAdministrator(person) }
}

function isAdministrator(person: AuthenticatedCaller | undefined): boolean {
  return person?.permissions.some(name => name === 'admin' || name === 'operator') ?? false
}

async function nameOfDeposit(tx: Tx, request_id: string): Promise<string | undefined> {
  const row = await selectInCompany(tx, 'request')
    .where('id', '=', request_id)
    .select(sql<string | null>`facts->>'name'`.as('name'))
    .executeTakeFirst()
  return row?.name ?? undefined
}

async function recordCheck(
  tx: Tx,
  deps: Deps,
  person: AuthenticatedCaller,
  { items: answers, sources }: VerifyAnswer,
  at: Date
): Promise<string> {
  const company_id = person.company_id
  const charge = { company_id, user_id: person.id, requests: answers.length }
  await chargeVerification(tx, { ...charge, now: at })
  const count = (verdict: Verdict) => answers.filter(each => each.verdict === verdict).length
  const registers = sources.flatMap(({ id, name }) => {
    const listsIt = (each: SourceAnswer) => each.id === id && each.result === 'found'
    const found = answers.filter(answer => answer.sources.some(listsIt)).length
    return found > 0 ? [{ id, name, found }] : []
  })
  const [only] = answers.length === 1 ? answers : []
  const finding = only?.findings[0]
  const own = answers.find(answer => answer.own)?.own
  const name = own && (await nameOfDeposit(tx, own.request_id))
  const state: RequestStateToRecord = {
    id: newId(deps),
    user_id: person.id,
    kind: 'verify',
    state: 'done',
    created: at,
    facts: {
      items: {
        asked: answers.length,
        authentic: count('authentic'),
        known_to_register: count('known_to_register'),
        not_found: count('not_found'),
        indeterminate: count('indeterminate')
      },
      ...(registers.length > 0 ? { registers } : {}),
      ...(name === undefined ? {} : { name }),
      ...(only ? { verdict: only.verdict } : {}),
      ...(finding ? { match: finding.match } : {}),
      // the history draws the seal of the record from it
      ...(finding && !finding.rung ? { leaf_hash: finding.leaf_hash } : {})
    }
  }
  const [request] = await finishWithLogs(tx, deps, { states: [state] })
  return request.id
}
