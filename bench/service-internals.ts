import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { createApp } from '../src/server/app.ts'
import { readConfig } from '../src/server/config.ts'
import { socketConnectionConfig } from '../src/server/db/postgres.ts'
import { findTenant } from '../src/server/domain/companies/served-hosts.ts'
import { keyedHashOf } from '../src/server/domain/evidence/keyed-hashes.ts'
import { newId } from '../src/server/domain/ids.ts'
import { issueAccessToken } from '../src/server/domain/sessions/access-tokens.ts'
import { openDeps } from '../src/server/open-deps.ts'
import type { Service } from './processes.ts'

export interface CapturedStatement {
  name?: string | undefined
  text: string
  values: unknown[]
}

export type ServiceInternals = Awaited<ReturnType<typeof openServiceInternals>>

export const companyHost = 'localhost'

/** Creates data for which HTTP calls would take hours, and captures the SQL of a call. */
export async function openServiceInternals(service: Service) {
  await using owned = new AsyncDisposableStack()
  const quiet = { info() {}, warn: console.warn, error: console.error }
  // without DATABASE_NOTIFY, no statement is sent outside of transactions
  const config = readConfig({ DATA_DIR: service.dataDir, DATABASE_NOTIFY: 'false' })
  const { deps, tenants } = owned.use(await openDeps(config, quiet))
  const app = createApp(deps, tenants)
  const tenant = await findTenant(deps, companyHost)
  if (!tenant) throw new Error(`${companyHost} belongs to nobody`)
  const { company_id } = tenant
  const socketDir = await service.socketDir()
  const owner = owned.adopt(
    new pg.Pool({ ...socketConnectionConfig(socketDir, 'vidimus', 'postgres'), max: 1 }),
    pool => pool.end()
  )
  const kept = owned.move()

  return {
    company_id,
    deps,
    socketDir,
    /** Of the tables' owner, to whom row-level security does not apply. */
    owner,

    /** The keyed hashes under which the service looks up these fingerprints. */
    async tagsOf(digests: Buffer[]): Promise<Buffer[]> {
      const keys = await deps.companyKeys.open(company_id)
      return digests.map(digest => keyedHashOf(keys.lookup, 'sha256', digest))
    },

    /** Each with a session. */
    async addPeople(count: number): Promise<{ id: string; token: string }[]> {
      const created_at = new Date()
      const expires_at = new Date(created_at.getTime() + 3_600_000)
      const people = Array.from({ length: count }, () => ({
        id: newId(deps),
        session: newId(deps)
      }))
      const ids = [people.map(({ id }) => id), people.map(({ session }) => session)]
      await owner.query(
        `with person as (
          insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
          select $1, id, id || '@example.com', 'Ada', $4, $4 from unnest($2::uuid[]) id
          returning id
        ), member as (
          insert into group_user (company_id, group_id, user_id)
          select $1, g.id, p.id from person p, "group" g where g.company_id = $1 and g.is_default
        )
        insert into session (company_id, id, user_id, agent, created_at, last_seen_at, expires_at)
        select $1, session, id, 'Firefox', $4, $4, $5 from unnest($2::uuid[], $3::uuid[]) as t (id, session)`,
        [company_id, ...ids, created_at, expires_at]
      )
      return Promise.all(
        people.map(async ({ id, session }) => ({
          id,
          token: await issueAccessToken(deps, tenant, {
            user_id: id,
            session_id: session,
            pending: false,
            signedIn: created_at,
            expires: expires_at
          })
        }))
      )
    },

    /** From the first `begin` to the last `commit`. */
    async statementsOf(call: {
      path: string
      token?: string
      body: object
    }): Promise<CapturedStatement[]> {
      const captured: CapturedStatement[] = []
      const { query } = pg.Client.prototype
      pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
        const [statement] = given
        if (typeof statement === 'string') captured.push({ text: statement, values: [] })
        else captured.push(statement as CapturedStatement) // as: the only other form that is used
        return Reflect.apply(query, this, given)
      } as typeof query
      try {
        const answer = await app.fetch(
          new Request(`http://api.${companyHost}${call.path}`, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              'idempotency-key': randomUUID(),
              ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` })
            },
            body: JSON.stringify(call.body)
          })
        )
        if (!answer.ok) throw new Error(await answer.text())
      } finally {
        pg.Client.prototype.query = query
      }
      return captured.map(({ name, text, values = [] }) => ({ name, text, values }))
    },

    [Symbol.asyncDispose]: () => kept.disposeAsync()
  }
}
