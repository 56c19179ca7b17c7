import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type * as z from 'zod/mini'
import { AppError } from '../../../contract/kit/errors.ts'
import type { getSetup as getSetupCall } from '../../../contract/setup.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { insertActiveUser } from '../accounts/users.ts'
import { addAuditEntry, addPermissionsEntry } from '../audit/audit-entries.ts'
import { listCompanyIds, removeDemoCompany, renameCompany } from '../companies/companies.ts'
import { getPrimaryHost, webOriginOf } from '../companies/served-hosts.ts'
import { findDemo } from '../demo/demo.ts'
import { demoAccount } from '../demo-account.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { verifyKeyProof } from '../key-proofs/key-proofs.ts'
import { runWithFailureLimits } from '../limits/rate-limits.ts'

// each start of a process creates one; of more, the oldest end
const maxCodes = 5
const codeMs = 24 * 3_600_000

/**
 * The first operator proves access to the server with it. Undefined if there is an operator already
 * or no company yet.
 */
export async function createSetupCode(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'settings'>
): Promise<{ code: string; link: string } | undefined> {
  const company_id = await findOwnCompany(deps)
  if (company_id === undefined) return undefined
  const code = Buffer.from(deps.random(16)).toString('base64url')
  return inCompany(deps.db, company_id, async tx => {
    if (await hasOperator(tx)) return undefined
    await tx
      .insertInto('setup_code')
      .values({ hash: hashOf(code), created_at: deps.clock() })
      .execute()
    await sql`
      delete from setup_code where hash not in
        (select hash from setup_code order by created_at desc limit ${maxCodes})`.execute(tx)
    return { code, link: `${webOriginOf(deps, await getPrimaryHost(tx))}/en/setup#${code}` }
  })
}

export async function getSetup(
  deps: Pick<Deps, 'db' | 'settings'>,
  tenant: Tenant,
  isDeveloper: boolean
): Promise<z.input<(typeof getSetupCall)['output']>> {
  const company_id = await requireOwnCompany(deps, tenant)
  if (await inCompany(deps.db, company_id, hasOperator)) throw alreadyDone()
  const demo = await findDemo(deps)
  const account = isDeveloper ? { account: demoAccount } : {}
  return {
    company: tenant.config.company,
    ...(demo ? { demo: { address: webOriginOf(deps, demo.host), ...account } } : {})
  }
}

interface NewOperator {
  tenant: Tenant
  address: string
  code: string
  // as `canonicalEmail` returns it
  email: string
  username: string
  public_key_jwt: string
  locale?: 'en' | 'fr' | undefined
  company: string
  demo: 'keep' | 'remove'
}

/** The returned `demo` is `kept` also if its removal failed. */
export async function createFirstOperator(
  deps: Deps,
  input: NewOperator
): Promise<{ id: string; demo: 'none' | 'kept' | 'removed' }> {
  const { tenant, code, address, username, email, public_key_jwt, locale } = input
  const company_id = await requireOwnCompany(deps, tenant)
  const attempt = [company_id, { address }] as const
  const { id } = await runWithFailureLimits(deps, [['setup_address', attempt]], () =>
    inCompany(deps.db, company_id, async tx => {
      // Deleting the codes is also a lock: a parallel call waits here, and then finds an operator and
      // no code. If this transaction fails, the codes are restored.
      const codes = await tx.deleteFrom('setup_code').returning(['hash', 'created_at']).execute()
      if (await hasOperator(tx)) throw alreadyDone()
      const hash = hashOf(code)
      const found = codes.find(each => each.hash.equals(hash))
      if (!found) throw new AppError('setup_code_wrong', 'The code is none of those that hold')
      if (deps.clock().getTime() - found.created_at.getTime() > codeMs) {
        throw new AppError('setup_code_expired', 'The code is older than 24 hours')
      }
      const person = { tenant, email, username, public_key_jwt, locale }
      const proof = verifyKeyProof({ ...person, purpose: 'signup' })
      const permissions = ['operator', 'admin']
      const user = await insertActiveUser(tx, deps, person, proof, permissions)
      await renameCompany(tx, company_id, input.company)
      const by = { id: user.id, company_id }
      const after = { name: input.company }
      addAuditEntry(tx, deps, { by, action: 'company.set_up', target: company_id, after })
      const granted = { before: { permissions: [] }, after: { permissions } }
      addPermissionsEntry(tx, deps, { by, target: user.id, ...granted })
      tx.afterCommit(() => deps.signals.domains.send(tenant.host))
      return user
    })
  )
  return { id, demo: await settleDemo(deps, input.demo) }
}

// does not throw, because the operator exists already
async function settleDemo(
  deps: Deps,
  choice: 'keep' | 'remove'
): Promise<'none' | 'kept' | 'removed'> {
  const demo = await findDemo(deps)
  if (!demo) return 'none'
  if (choice === 'keep') return 'kept'
  try {
    return (await removeDemoCompany(deps, demo.company_id)) ? 'removed' : 'none'
  } catch (error) {
    deps.log.error(
      { err: error },
      'the demonstration could not be removed: run npm run vidimus -- remove-demo'
    )
    return 'kept'
  }
}

async function requireOwnCompany(deps: Pick<Deps, 'db'>, tenant: Tenant): Promise<CompanyId> {
  const own = await findOwnCompany(deps)
  if (own !== tenant.company_id || tenant.config.demo) {
    throw new AppError('not_found', 'This host belongs to another company')
  }
  return own
}

// the oldest company, unless that is the demonstration
async function findOwnCompany(deps: Pick<Deps, 'db'>): Promise<CompanyId | undefined> {
  const [first] = await listCompanyIds(deps)
  if (first === undefined) return undefined
  const demo = await findDemo(deps)
  return demo?.company_id === first ? undefined : first
}

async function hasOperator(tx: Tx): Promise<boolean> {
  const found = await selectInCompany(tx, 'user')
    .select('id')
    .where(sql<boolean>`permissions @> array['operator']`)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

function alreadyDone(): AppError {
  return new AppError('not_found', 'The installation has an operator')
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
