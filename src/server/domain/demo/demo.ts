import { sql } from 'kysely'
import type * as z from 'zod/mini'
import type { createDeposit as createDepositCall } from '../../../contract/deposits.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany } from '../../db/scope.ts'
import { addUser } from '../accounts/new-users.ts'
import { listCompanyIds } from '../companies/companies.ts'
import { createCompany } from '../companies/new-companies.ts'
import { findTenant } from '../companies/served-hosts.ts'
import { demoAccount, demoPublicKey } from '../demo-account.ts'
import { endNextIdleUpload } from '../deposits/idle-uploads.ts'
import { createDeposit, depositKeyRoute } from '../deposits/intake.ts'
import { createDepositFromUpload, postponeDepositCreation } from '../deposits/upload-settlement.ts'
import {
  cancelUpload,
  completeUpload,
  findUpload,
  recordUploadActivity,
  type Upload
} from '../deposits/uploads.ts'
import { createFingerprintVerifier } from '../deposits/verifications.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type LeaseSettings, releaseLease, renewLease, takeLease } from '../leases/leases.ts'
import {
  type DemoDocument,
  type DemoVerification,
  demoHistory,
  demoHistoryDays,
  sha256Hex
} from './demo-documents.ts'
import { demoCompanyName, demoTheme } from './demo-theme.ts'

export const demoHost = 'demo.localhost'
const demoUsername = 'Claire Marchand'
const gigabyte = 1_000_000_000
const dayMs = 86_400_000
// keeps background jobs from the demonstration's uploads: an open one never lapses, and `fillDemo`
// creates the deposits of the others
const farAway = new Date('9999-01-01T00:00:00Z')

const seeding: LeaseSettings<'company'> = {
  table: 'company',
  until: 'demo_leased_until',
  ms: 10_000
}

interface Demo {
  company_id: CompanyId
  host: string
  state: 'seeding' | 'ready'
  created_at: Date
}

export async function createEmptyDemo(deps: Deps): Promise<void> {
  const created_at = new Date(deps.clock().getTime() - demoHistoryDays * dayMs)
  await createCompany(
    { ...deps, clock: () => created_at },
    {
      name: demoCompanyName,
      domains: [
        {
          host: demoHost,
          name: demoCompanyName,
          title: demoCompanyName,
          public: true,
          theme: demoTheme
        }
      ],
      locale: 'fr',
      demo: true,
      limits: { max_requests: 1000, max_requests_interval: 'P30D', max_storage: gigabyte }
    }
  )
}

export async function findDemo(deps: Pick<Deps, 'db'>): Promise<Demo | undefined> {
  // the list is sorted so that a demonstration comes last
  const company_id = (await listCompanyIds(deps)).at(-1)
  if (company_id === undefined) return undefined
  return inCompany(deps.db, company_id, async tx => {
    const company = await tx
      .selectFrom('company')
      .select(['demo', 'created_at'])
      .where('id', '=', company_id)
      .executeTakeFirst()
    if (!company?.demo) return undefined
    const { demo: state, created_at } = company
    return { company_id, host: demoHost, state, created_at }
  })
}

/**
 * Continues where an earlier call stopped; of several processes, one does the work. Returns true if
 * the history is complete or there is no demonstration, and false if another call is needed.
 */
export async function fillDemo(deps: Deps, stopping: () => boolean): Promise<boolean> {
  const demo = await findDemo(deps)
  if (demo?.state !== 'seeding') return true
  const { company_id: id } = demo
  const isSeeding = sql<boolean>`demo = 'seeding'`
  const claimed = await inCompany(deps.db, id, tx =>
    takeLease(tx, seeding, deps.clock(), { id, where: isSeeding })
  )
  if (!claimed) return false
  const releaseDemo = (state: Demo['state']) =>
    inCompany(deps.db, id, tx => releaseLease(tx, seeding, { id, set: { demo: state } }))
  try {
    const isComplete = await seedHistory(deps, demo, stopping)
    await releaseDemo(isComplete ? 'ready' : 'seeding')
    return isComplete
  } catch (error) {
    if (await releaseDemo('seeding')) throw error
    // the company was removed in the meantime, and this process may have written a file after that
    await deps.blobs.removeCompany(id)
    return true
  }
}

async function seedHistory(deps: Deps, demo: Demo, stopping: () => boolean): Promise<boolean> {
  const { company_id: id, created_at } = demo
  const person = await seedPerson({ ...deps, clock: () => created_at }, demo)
  for (const entry of demoHistory()) {
    if (stopping()) return false
    const isHeld = await inCompany(deps.db, id, tx => renewLease(tx, seeding, deps.clock(), { id }))
    if (!isHeld) throw new Error('the demonstration has been removed')
    const at = new Date(created_at.getTime() + entry.day * dayMs)
    const then: Deps = { ...deps, clock: () => at }
    if (entry.kind === 'deposit') await seedDeposit(then, person, entry)
    else await seedCheck(then, person, entry)
  }
  return true
}

interface DemoPerson {
  company_id: CompanyId
  user_id: string
  category: string
}

async function seedPerson(deps: Deps, { company_id }: Demo): Promise<DemoPerson> {
  return inCompany(deps.db, company_id, async tx => {
    const { email } = demoAccount
    const key = { kdf: 'a1', jwk: demoPublicKey } as const
    // does nothing if the person exists
    await addUser(tx, deps, { email, username: demoUsername, locale: undefined, key })
    const found = await selectInCompany(tx, 'user')
      .innerJoin('category', 'category.company_id', 'user.company_id')
      .where('user.email', '=', email)
      .orderBy('category.id')
      .limit(1)
      .select(['user.id as user_id', 'category.id as category'])
      .executeTakeFirstOrThrow()
    return { company_id, ...found }
  })
}

async function seedDeposit(deps: Deps, person: DemoPerson, document: DemoDocument): Promise<void> {
  const upload = (await uploadOf(deps, person)) ?? (await register(deps, person, document))
  const { company_id, id } = upload
  if (upload.state === 'settled') return
  const bytes = document.makeBytes()
  switch (document.outcome) {
    case 'cancelled':
      return cancelUpload(deps, upload)
    case 'lapsed': {
      const later = new Date(deps.clock().getTime() + 1.1 * dayMs)
      while (await endNextIdleUpload({ ...deps, clock: () => later }, company_id));
      return
    }
    case 'uploading':
      await deps.blobs.stage(company_id, id, bytes.subarray(0, Math.ceil(bytes.length / 3)))
      return recordUploadActivity({ ...deps, clock: () => farAway }, upload)
  }
  // if this process is killed before the settlement, the job must not record the document with the
  // present time
  await postponeDepositCreation(deps, upload, farAway)
  if (upload.state === 'uploading') {
    // a deposit fails if its bytes differ from the announced ones
    const isFailing = document.outcome === 'failed'
    await deps.blobs.stage(company_id, id, isFailing ? bytes.toReversed() : bytes)
    await completeUpload(deps, upload)
  }
  const received = await uploadOf(deps, person)
  if (received) await createDepositFromUpload(deps, received)
}

// found by its creation time, which differs for each deposit
async function uploadOf(
  deps: Deps,
  { company_id, user_id }: DemoPerson
): Promise<Upload | undefined> {
  return inCompany(deps.db, company_id, async tx => {
    const found = await tx
      .selectFrom('upload')
      .innerJoin('request', join => joinInCompany(join, 'request.id', 'upload.request_id'))
      .where('request.company_id', '=', company_id)
      .where('request.user_id', '=', user_id)
      .where('request.created_at', '=', deps.clock())
      .select('upload.id')
      .executeTakeFirst()
    return found && findUpload(tx, found.id)
  })
}

async function register(deps: Deps, person: DemoPerson, document: DemoDocument): Promise<Upload> {
  const { company_id, user_id, category } = person
  const { name, media_type, reducedFrom } = document
  const bytes = document.makeBytes()
  const stored = sha256Hex(bytes)
  const deposit: z.output<(typeof createDepositCall)['input']> = {
    name: name.normalize('NFC'),
    size: bytes.length,
    media_type,
    original: reducedFrom?.sha256 ?? stored,
    stored,
    category
  }
  if (reducedFrom) {
    const { bytes: size, w, h } = reducedFrom
    deposit.transform = {
      kind: 'image-recompress',
      quality: 70,
      tool: 'vidimus/1 demonstration',
      from: { bytes: size, w, h, type: 'image/jpeg' },
      to: { bytes: bytes.length, w: 600, h: 450, type: 'image/jpeg' }
    }
  }
  const by = { company_id, user_id, actor: user_id, route: depositKeyRoute }
  await createDeposit(deps, by, { key: undefined, deposit })
  const upload = await uploadOf(deps, person)
  if (!upload) throw new Error(`the demonstration has ${name} already`)
  return upload
}

async function seedCheck(
  deps: Deps,
  person: DemoPerson,
  { names }: DemoVerification
): Promise<void> {
  const { company_id, user_id: id } = person
  const known = await inCompany(deps.db, company_id, tx =>
    selectInCompany(tx, 'request')
      .where('user_id', '=', id)
      .where('created_at', '=', deps.clock())
      .select('id')
      .executeTakeFirst()
  )
  if (known) return
  const tenant = await findTenant(deps, demoHost)
  if (!tenant) throw new Error('the demonstration has no host')
  const documents = demoHistory().filter(entry => entry.kind === 'deposit')
  const items = names.map(name => {
    const document = documents.find(each => each.name === name)
    // for a reduced picture this is the copy, because only the copy has bytes
    return { sha256: sha256Hex(document?.makeBytes() ?? name) }
  })
  const never = {
    session_id: id,
    token_expires: farAway,
    session_expires: farAway,
    confirmed: false,
    key: undefined
  }
  const caller = { id, company_id, pending: false, permissions: [], outdated: false, ...never }
  await createFingerprintVerifier(deps)({ tenant, person: caller, address: '', items })
}
