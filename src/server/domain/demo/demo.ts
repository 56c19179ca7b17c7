import type * as z from 'zod/mini'
import type { createDeposit as createDepositCall } from '../../../contract/deposits.ts'
import { inCompany } from '../../db/scope.ts'
import { addUser } from '../accounts/new-users.ts'
import { createCompany, listCompanies } from '../companies/companies.ts'
import { findTenant } from '../companies/domains.ts'
import { demoAccount, demoKey } from '../demo-account.ts'
import { createDeposit } from '../deposits/deposits.ts'
import {
  cancelUpload,
  getUpload,
  holdUpload,
  lapseNextUpload,
  receiveUpload,
  settleUpload,
  touchUpload,
  type Upload
} from '../deposits/uploads.ts'
import { createVerify } from '../deposits/verifications.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import {
  type DemoCheck,
  type DemoDocument,
  demoDays,
  demoHistory,
  sha256Hex
} from './demo-documents.ts'
import { demoNames, demoTheme } from './demo-theme.ts'

const demoUsername = 'Claire Marchand'

export const demoHost = 'demo.localhost'
const gigabyte = 1_000_000_000
const dayMs = 86_400_000
const leaseMs = 10_000
/** Open uploads of the demonstration never lapse, and nobody else settles any of it. */
const farAway = new Date('9999-01-01T00:00:00Z')

interface Demo {
  company_id: CompanyId
  host: string
  state: 'seeding' | 'ready'
  created_at: Date
}

/** Makes the company of the demonstration, which is older than the installation; its documents come with `fillDemo`. */
export async function createDemo(deps: Deps): Promise<void> {
  const created_at = new Date(deps.clock().getTime() - demoDays * dayMs)
  await createCompany(
    { ...deps, clock: () => created_at },
    {
      name: demoNames.company,
      domains: [
        {
          host: demoHost,
          name: demoNames.name,
          title: demoNames.title,
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

/** The demonstration, if there is one: there is never a second, because their hosts would be the same. */
export async function findDemo(deps: Pick<Deps, 'db'>): Promise<Demo | undefined> {
  // demonstrations come last
  const company_id = (await listCompanies(deps)).at(-1)
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
 * Deposits what is still missing of the demonstration, through the same verbs as everybody's
 * documents. Of several processes one does it; after a crash it goes on where it stopped. Answers
 * whether it is complete.
 */
export async function fillDemo(deps: Deps, stopping: () => boolean): Promise<boolean> {
  const demo = await findDemo(deps)
  if (demo?.state !== 'seeding') return true
  if (!(await lease(deps, demo))) return false
  try {
    const complete = await playAll(deps, demo, stopping)
    await release(deps, demo, complete ? 'ready' : 'seeding')
    return complete
  } catch (error) {
    if (await findDemo(deps)) {
      await release(deps, demo, 'seeding')
      throw error
    }
    // removed meanwhile, and a file may have come after
    await deps.blobs.removeCompany(demo.company_id)
    return true
  }
}

async function playAll(deps: Deps, demo: Demo, stopping: () => boolean): Promise<boolean> {
  const stage = await openStage(deps, demo)
  for (const [index, act] of demoHistory().entries()) {
    if (stopping()) return false
    await renew(deps, demo)
    const at = new Date(demo.created_at.getTime() + act.day * dayMs)
    const then: Deps = { ...deps, clock: () => at }
    const made = stage.made[index]
    if (act.kind === 'deposit') await playDeposit(then, stage, act, made)
    else if (made === undefined) await playCheck(then, stage, act)
  }
  return true
}

interface Stage {
  tenant: Tenant
  company_id: CompanyId
  user_id: string
  category: string
  /** Ids of the requests there are, oldest first: one for each act that has begun. */
  made: string[]
}

async function openStage(deps: Deps, demo: Demo): Promise<Stage> {
  const { company_id } = demo
  const tenant = await findTenant(deps, demo.host)
  if (!tenant) throw new Error('the demonstration has no host')
  return inCompany(deps.db, company_id, async tx => {
    const category = await tx
      .selectFrom('category')
      .select('id')
      .where('company_id', '=', company_id)
      .orderBy('id')
      .limit(1)
      .executeTakeFirstOrThrow()
    const known = await tx
      .selectFrom('user')
      .select('id')
      .where('company_id', '=', company_id)
      .where('email', '=', demoAccount.email)
      .executeTakeFirst()
    const user_id =
      known?.id ??
      (await addUser(
        tx,
        { ...deps, clock: () => demo.created_at },
        {
          company_id,
          email: demoAccount.email,
          username: demoUsername,
          locale: undefined,
          key: { kdf: 'a1', jwk: demoKey }
        }
      ))
    if (user_id === undefined) throw new Error('the demonstration has no person')
    const made = await tx
      .selectFrom('request')
      .select('id')
      .where('company_id', '=', company_id)
      .where('user_id', '=', user_id)
      .orderBy('created_at')
      .execute()
    return { tenant, company_id, user_id, category: category.id, made: made.map(each => each.id) }
  })
}

async function playDeposit(
  deps: Deps,
  stage: Stage,
  document: DemoDocument,
  made: string | undefined
): Promise<void> {
  const { company_id, user_id } = stage
  const id = made === undefined ? await open(deps, stage, document) : await idOf(deps, stage, made)
  const find = () => getUpload(deps, { company_id, user_id, id })
  const upload = await find()
  // the company's own job would record it with the present time, were this process killed in between
  await holdUpload(deps, upload, farAway)
  if (upload.state === 'uploading') await bring(deps, upload, document)
  const brought = await find()
  if (brought.state === 'received') await settleUpload(deps, brought)
}

/** Registers a document; answers the id of its upload. */
async function open(deps: Deps, stage: Stage, document: DemoDocument): Promise<string> {
  const { name, media_type, reducedFrom } = document
  const bytes = document.makeBytes()
  const stored = sha256Hex(bytes)
  const to = { bytes: bytes.length, w: 600, h: 450, type: 'image/jpeg' }
  const deposit: z.output<(typeof createDepositCall)['input']> = {
    name: name.normalize('NFC'),
    size: bytes.length,
    media_type,
    original: reducedFrom?.sha256 ?? stored,
    stored,
    category: stage.category
  }
  if (reducedFrom) {
    const { bytes: size, w, h } = reducedFrom
    const from = { bytes: size, w, h, type: 'image/jpeg' }
    deposit.transform = {
      kind: 'image-recompress',
      quality: 70,
      tool: 'vidimus/1 demonstration',
      from,
      to
    }
  }
  const { company_id, user_id } = stage
  const act = { actor: user_id, route: 'POST /deposit', key: `demo ${name}`, input: deposit }
  const { body } = await createDeposit(deps, { company_id, user_id, act, deposit })
  const address = 'upload' in body ? body.upload : undefined
  if (address === undefined) throw new Error(`the demonstration has ${name} already`)
  return address.slice('/uploads/'.length)
}

async function idOf(deps: Deps, { company_id }: Stage, request_id: string): Promise<string> {
  const upload = await inCompany(deps.db, company_id, tx =>
    tx
      .selectFrom('upload')
      .select('id')
      .where('company_id', '=', company_id)
      .where('request_id', '=', request_id)
      .executeTakeFirstOrThrow()
  )
  return upload.id
}

/** Takes an open upload as far as its outcome wants. */
async function bring(deps: Deps, upload: Upload, document: DemoDocument): Promise<void> {
  const { company_id, id } = upload
  const bytes = document.makeBytes()
  switch (document.outcome) {
    case 'done':
      await deps.blobs.stage(company_id, id, bytes)
      return receiveUpload(deps, upload)
    case 'failed':
      // other bytes than were announced
      await deps.blobs.stage(company_id, id, bytes.toReversed())
      return receiveUpload(deps, upload)
    case 'cancelled':
      return cancelUpload(deps, upload)
    case 'lapsed': {
      const later = new Date(deps.clock().getTime() + 1.1 * dayMs)
      while (await lapseNextUpload({ ...deps, clock: () => later }, company_id));
      return
    }
    case 'uploading':
      await deps.blobs.stage(company_id, id, bytes.subarray(0, Math.ceil(bytes.length / 3)))
      return touchUpload({ ...deps, clock: () => farAway }, upload)
  }
}

async function playCheck(deps: Deps, stage: Stage, { names }: DemoCheck): Promise<void> {
  const documents = demoHistory().filter(act => act.kind === 'deposit')
  const items = names.map(name => {
    const document = documents.find(each => each.name === name)
    // of a picture the copy is checked: only that exists
    return { sha256: sha256Hex(document?.makeBytes() ?? name) }
  })
  const { tenant, company_id, user_id: id } = stage
  const never = { session_id: id, token_expires: farAway, session_expires: farAway }
  const person = { id, company_id, pending: false, permissions: [], outdated: false, ...never }
  await createVerify(deps)({ tenant, person, address: '', items })
}

/** Whether this process may go on with it. */
async function lease(deps: Deps, { company_id }: Demo): Promise<boolean> {
  const now = deps.clock()
  const taken = await inCompany(deps.db, company_id, tx =>
    tx
      .updateTable('company')
      .set({ demo_leased_until: new Date(now.getTime() + leaseMs) })
      .where('id', '=', company_id)
      .where('demo', '=', 'seeding')
      .where(either =>
        either.or([either('demo_leased_until', 'is', null), either('demo_leased_until', '<', now)])
      )
      .returning('id')
      .executeTakeFirst()
  )
  return taken !== undefined
}

async function renew(deps: Deps, { company_id }: Demo): Promise<void> {
  const kept = await inCompany(deps.db, company_id, tx =>
    tx
      .updateTable('company')
      .set({ demo_leased_until: new Date(deps.clock().getTime() + leaseMs) })
      .where('id', '=', company_id)
      .returning('id')
      .executeTakeFirst()
  )
  if (!kept) throw new Error('the demonstration has been removed')
}

async function release(deps: Deps, { company_id }: Demo, demo: Demo['state']): Promise<void> {
  await inCompany(deps.db, company_id, tx =>
    tx
      .updateTable('company')
      .set({ demo, demo_leased_until: null })
      .where('id', '=', company_id)
      .execute()
  )
}
