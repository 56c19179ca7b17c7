import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { getCompany } from '../../../src/contract/companies.ts'
import { createDeposit } from '../../../src/contract/deposits.ts'
import { createGroup, listGroups } from '../../../src/contract/groups.ts'
import { createInvitationLinks, resendInvitation } from '../../../src/contract/members.ts'
import {
  type AttentionKind,
  getAttention,
  getAttentionOfAllCompanies,
  getUsageByDay
} from '../../../src/contract/overview.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import type { CompanyId } from '../../../src/server/db/scope.ts'
import {
  collectAttention,
  collectAttentionOfAllCompanies
} from '../../../src/server/domain/companies/attention.ts'
import { createEmptyDemo, findDemo } from '../../../src/server/domain/demo/demo.ts'
import { retireLog } from '../../../src/server/domain/evidence/log-retirement.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions, makeDomain } from '../../helpers/cases.ts'
import { batchForm, postBatch, smallFiles } from '../../helpers/deposits/batches.ts'
import { setLogState } from '../../helpers/evidence/signed-sizes.ts'
import { makeMailToken, makePerson, makeSignUp } from '../../helpers/mailed.ts'
import { makeAdmins } from '../../helpers/matrix.ts'

const day = 86_400

let app: TestApp
let ada: TestPerson
let company: CompanyId

async function start(options: Parameters<typeof makeApp>[0] = {}) {
  app = await makeApp(options)
  ada = await app.signUp()
  company = ada.company
  await makeAdmins(app.owner)
}

describe('the usage by day', () => {
  beforeEach(() => start())
  afterEach(() => app[Symbol.asyncDispose]())

  test('counts every kind of deposit and verification on the day on which it began', async () => {
    const first = today()
    const bytes = randomBytes(1000)
    await app.deposit(ada, bytes)
    const { files, items } = smallFiles(3, { category: ada.category, again: true })
    expect((await postBatch(app, ada, batchForm(items, files))).status).toBe(200)
    const stored = 1000 + files.reduce((sum, file) => sum + file.length, 0)
    await ada.call(verify, { items: ['1', '2'].map(digit => ({ sha256: digit.repeat(64) })) })
    const late = randomBytes(500)
    const { request, upload } = await app.reserve(ada, late)
    expect((await usage()).at(-1)).toEqual({
      day: first,
      deposits: 4,
      verifications: 2,
      bytes: stored,
      failed: 0
    })

    app.wait(day)
    ada = { ...ada, token: await app.signIn(ada) }
    expect((await app.patch(ada, upload, late)).status).toBe(204)
    await untilDone(request.id)
    await fingerprint()
    const [before, present] = (await usage()).slice(-2)
    // begun yesterday
    expect(before).toEqual({
      day: first,
      deposits: 5,
      verifications: 2,
      bytes: stored + 500,
      failed: 0
    })
    expect(present).toEqual({ day: today(), deposits: 1, verifications: 0, bytes: 0, failed: 0 })
  })

  test('counts a deposit that fails as failed alone', async () => {
    const { request, upload } = await app.reserve(ada, randomBytes(300))
    await app.patch(ada, upload, randomBytes(300))
    await app.until(ada, request.id, ['failed'])
    expect((await usage()).at(-1)).toEqual({
      day: today(),
      deposits: 0,
      verifications: 0,
      bytes: 0,
      failed: 1
    })
  })

  test('is that of the company or of one group, with the days on which nothing happened', async () => {
    await app.deposit(ada, randomBytes(100))
    const [everyone] = await ada.call(listGroups, { id: company })
    const { id: other } = await ada.call(createGroup, { name: `Other ${randomUUID()}` })
    expect((await usage({ group: everyone?.id })).at(-1)?.deposits).toBe(1)
    expect((await usage({ group: other })).at(-1)?.deposits).toBe(0)
    const days = await usage()
    expect(days).toHaveLength(30)
    expect(new Set(days.map(each => each.day)).size).toBe(30)
    expect(days.at(-1)?.day).toBe(today())
    expect(days[0]).toMatchObject({ deposits: 0, verifications: 0, bytes: 0, failed: 0 })
    // a leap day and the change of a year
    const leap = await usage({ from: '2023-12-31', to: '2024-03-01' })
    expect(leap.map(each => each.day)).toHaveLength(62)
    expect(leap.at(-2)?.day).toBe('2024-02-29')
    expect(await usage({ from: '2025-10-19', to: '2026-11-22' })).toHaveLength(400)
  })

  test('refuses periods that are too long, too early or no period', async () => {
    const refused = [
      [{ from: '2025-10-18', to: '2026-11-22' }, 'from'],
      [{ from: '2026-11-22', to: '2026-11-21' }, 'to'],
      [{ from: '0001-01-01', to: '0001-01-02' }, 'from'],
      [{ to: '0000-01-01' }, 'from'],
      [{ from: '2026-02-30' }, 'from'],
      [{ from: 'yesterday' }, 'from']
    ] as const
    for (const [period, field] of refused) {
      await expect(usage(period), JSON.stringify(period)).rejects.toMatchObject({
        code: 'invalid_input',
        fields: { [field]: expect.anything() }
      })
    }
  })

  function usage(query: { group?: string | undefined; from?: string; to?: string } = {}) {
    return ada.call(getUsageByDay, { id: company, ...query }, { token: ada.token })
  }

  async function untilDone(id: string): Promise<void> {
    for (let tries = 0; tries < 1000; tries++) {
      const { rows } = await app.owner.query('select state from request where id = $1', [id])
      if (rows[0]?.state === 'done') return
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    throw new Error('the deposit was not made')
  }

  async function fingerprint(): Promise<void> {
    await app.owner.query("update category set store = 'fingerprint'")
    const sha256 = createHash('sha256').update(randomUUID()).digest('hex')
    const file = { name: 'a.pdf', size: 50, media_type: 'application/pdf' }
    const digests = { original: sha256, stored: sha256, category: ada.category }
    await ada.call(createDeposit, { ...file, ...digests }, { token: ada.token })
  }
})

describe('what needs attention', () => {
  afterEach(() => app[Symbol.asyncDispose]())

  test('is nothing in a company in which everything is in order', async () => {
    await start({ limits: { max_requests: 100, max_storage: 1000 } })
    await app.deposit(ada, randomBytes(700))
    expect(await attention()).toEqual({
      checked: expect.stringMatching(/Z$/),
      has_mail_server: false,
      items: [],
      unchecked: []
    })
  })

  test('names people who wait, and more gravely where no mail leads them on', async () => {
    await start()
    app.deps.settings.mailServer = true
    const { id } = await makeSignUp(app)
    expect(await items()).toEqual([
      { kind: 'people_waiting', severity: 'info', count: 1, since: expect.any(String) }
    ])
    app.deps.settings.mailServer = false
    expect(await items()).toMatchObject([{ kind: 'people_waiting', severity: 'warning' }])
    await app.owner.query('update signup set expires_at = now() where id = $1', [id])
    expect(await items()).toEqual([])
  })

  test('names invitations whose link has expired until there is a new one', async () => {
    await start()
    app.deps.settings.mailServer = true
    const invited = await makePerson(app, true)
    const other = await makePerson(app, true)
    await makeMailToken(app, 'activate', other)
    expect(await items()).toMatchObject([
      { kind: 'invitations_expired', severity: 'warning', count: 1 }
    ])
    await makeMailToken(app, 'activate', invited)
    expect(await items()).toEqual([])
    app.wait(4 * day)
    ada = { ...ada, token: await app.signIn(ada) }
    expect(await items()).toMatchObject([{ kind: 'invitations_expired', count: 2 }])
    // an invitation that waits for the proof of the first host has not expired
    await app.owner.query('update domain set verified_at = null where company_id = $1', [company])
    const company_id = company
    const waiting = await collectAttention(app.deps, { company_id, isOperator: false })
    expect(waiting.items).toMatchObject([{ kind: 'domains_unverified', count: 1 }])
    // with a wildcard alone, links lead to its hosts and expire there
    const setHost = (host: string) =>
      app.owner.query('update domain set host = $2, verified_at = now() where company_id = $1', [
        company,
        host
      ])
    await setHost('*.invited.example.com')
    const wild = await collectAttention(app.deps, { company_id, isOperator: false })
    expect(wild.items).toMatchObject([{ kind: 'invitations_expired', count: 2 }])
    await setHost('acme.localhost')
    await app.owner.query(`update "user" set disabled = '{"reason": "left"}' where id = $1`, [
      other.id
    ])
    expect(await items()).toMatchObject([{ kind: 'invitations_expired', count: 1 }])
    const { people } = await ada.call(getCompany, { id: company }, { token: ada.token })
    expect(people).toEqual({ active: 1, invited: 1, disabled: 1, waiting: 0 })
  })

  test('names no invitation whose mail is queued, and counts nobody else’s mails', async () => {
    await start({ sendsMails: false })
    const beta = app.companies['beta.localhost']
    const bea = await app.signUp('beta.localhost')
    app.deps.settings.mailServer = true
    const expired = await makePerson(app, true)
    const queued = await makePerson(app, true)
    await queueMail(company, queued.id, 'activate')
    await queueMail(company, ada.id, 'password_changed')
    await queueMail(beta, bea.id, 'password_changed')
    expect(await items()).toMatchObject([{ kind: 'invitations_expired', count: 1 }])
    const theirs = { company_id: beta, isOperator: false }
    expect((await collectAttention(app.deps, theirs)).items).toMatchObject([
      { kind: 'no_administrator' }
    ])
    await queueMail(company, expired.id, 'activate')
    expect(await items()).toEqual([])
  })

  test('names invited people for whom nobody got a link, where none is mailed', async () => {
    await start()
    await confirmSessions(app)
    const invited = await makePerson(app, true)
    // in the folder of unsent mails, where nobody looks
    await makeMailToken(app, 'activate', invited)
    expect(await items()).toMatchObject([
      { kind: 'invitations_by_hand', severity: 'warning', count: 1 }
    ])
    await ada.call(createInvitationLinks, { filter: {} })
    expect(await items()).toEqual([])
    app.wait(4 * day)
    ada = { ...ada, token: await app.signIn(ada) }
    expect(await items()).toMatchObject([{ kind: 'invitations_by_hand', count: 1 }])
    await ada.call(resendInvitation, { id: invited.id }, { token: ada.token })
    expect(await items()).toEqual([])
  })

  test('names limits from 80 % on, and those that are reached as broken', async () => {
    await start({ limits: { max_requests: 5, max_storage: 1000 } })
    for (let n = 0; n < 3; n++) await app.deposit(ada, randomBytes(266))
    expect(await items()).toEqual([])
    await app.deposit(ada, randomBytes(2))
    expect(await items()).toEqual([
      {
        kind: 'group_limits',
        severity: 'warning',
        count: 2,
        since: null,
        limits: [
          { group: everyone(), limited: 'requests', used: 4, limit: 5, resets_at: null },
          { group: everyone(), limited: 'storage', used: 800, limit: 1000, resets_at: null }
        ]
      }
    ])
    await app.deposit(ada, randomBytes(2))
    expect(await items()).toMatchObject([
      { kind: 'group_limits', severity: 'error', limits: [{ used: 5, limit: 5 }, {}] }
    ])
    // only a count of requests begins again
    await app.owner.query(`update "group" set max_requests_interval = 'P1D'`)
    expect(await items()).toMatchObject([
      { limits: [{ resets_at: expect.any(String) }, { limited: 'storage', resets_at: null }] }
    ])
    // a group that may use nothing is meant to
    await app.owner.query('update "group" set max_requests = 0, max_storage = 2000')
    expect(await items()).toEqual([])
  })

  test('names deposits that are held or failed', async () => {
    await start()
    const { request, upload } = await app.reserve(ada, randomBytes(300))
    await app.patch(ada, upload, randomBytes(300))
    await app.until(ada, request.id, ['failed'])
    await app.reserve(ada, randomBytes(300))
    await app.owner.query(`update upload set state = 'held', held_at = now()
      where state = 'uploading'`)
    expect(await items()).toEqual([
      { kind: 'deposits_held', severity: 'error', count: 1, since: expect.any(String) },
      { kind: 'deposits_failed', severity: 'warning', count: 1, since: null }
    ])
    await app.owner.query(`update upload set state = 'uploading' where state = 'held'`)
    app.wait(2 * day)
    ada = { ...ada, token: await app.signIn(ada) }
    expect(await items()).toEqual([])
  })

  test('names mails that do not leave, until they do', async () => {
    let isDown = true
    const send = async () => {
      if (isDown) throw new Error('the mail server does not answer')
      return 'sent' as const
    }
    await start({ mails: { send }, sendsMails: false })
    await app.owner.query(
      `insert into mail (company_id, id, kind, email, locale, host, created_at, next_at)
       values ($1, $2, 'password_changed', 'ada@example.com', 'en', 'acme.localhost', $3, $3)`,
      [company, randomUUID(), app.deps.clock()]
    )
    expect(await items()).toEqual([])
    app.wait(301)
    expect(await items()).toMatchObject([
      { kind: 'mails_delayed', severity: 'warning', count: 1, since: expect.any(String) }
    ])
    app.wait(3600)
    ada = { ...ada, token: await app.signIn(ada) }
    expect(await items()).toMatchObject([{ kind: 'mails_delayed', severity: 'error' }])
    const { sendNextMail } = await import('../../../src/server/domain/mail/mail-queue.ts')
    expect(await sendNextMail(app.deps, ada.company)).toBe(false)
    expect(await items()).toMatchObject([{ kind: 'mails_delayed' }])
    isDown = false
    app.wait(3600)
    ada = { ...ada, token: await app.signIn(ada) }
    expect(await sendNextMail(app.deps, ada.company)).toBe(true)
    expect(await items()).toEqual([])
  })

  test('names domains that are not served or soon will not be, with their hosts', async () => {
    await start()
    const add = async (host: string, columns: string) => {
      const id = await makeDomain(app.owner, company)
      await app.owner.query(
        `update domain set host = $2, proof_token = 'token', ${columns}
          where id = $1`,
        [id, host]
      )
      return { id, host }
    }
    const old = await add('old.example.com', `verified_at = null, created_at = '2026-01-02'`)
    const recent = await add(
      'recent.example.com',
      `verified_at = null, created_at = now() - interval '20 hours'`
    )
    const failing = await add('failing.example.com', `failing_since = '2026-01-03'`)
    const off = await add('off.example.com', `verified_at = null, quarantined_at = '2026-01-04'`)
    const taken = [
      await add('beta.localhost', `verified_at = null, quarantined_at = '2026-01-05'`),
      ...(await Promise.all(
        Array.from({ length: 5 }, async (_, at) => {
          const host = `taken${at}.example.com`
          await app.addCompany(`Winner ${at}`, host)
          return add(
            host,
            `verified_at = null, created_at = timestamptz '2026-01-06' + ${at} * interval '1 day'`
          )
        })
      ))
    ]
    const since = (day: string) => `2026-01-${day}T00:00:00.000Z`
    const expected = [
      {
        kind: 'domains_quarantined',
        severity: 'error',
        count: 1,
        since: since('04'),
        domains: [off]
      },
      {
        kind: 'domains_failing',
        severity: 'warning',
        count: 1,
        since: since('03'),
        domains: [failing]
      },
      {
        kind: 'domains_taken',
        severity: 'warning',
        count: 6,
        since: null,
        domains: taken.slice(0, 5)
      },
      {
        kind: 'domains_unverified',
        severity: 'info',
        count: 2,
        since: since('02'),
        domains: [old, recent]
      },
      {
        kind: 'log_named_localhost',
        severity: 'info',
        count: 1,
        since: null,
        log: 'acme.localhost/log',
        domains: [failing]
      }
    ]
    const byKind = (a: { kind: string }, b: { kind: string }) => a.kind.localeCompare(b.kind)
    expect((await items()).toSorted(byKind)).toEqual(expected.toSorted(byKind))
    expect((await items()).map(({ severity }) => severity)).toEqual([
      'error',
      'warning',
      'warning',
      'info',
      'info'
    ])
    // operators see them for all companies
    await app.owner.query(`update "user" set permissions = '{operator}' where id = $1`, [ada.id])
    const all = await ada.call(getAttentionOfAllCompanies, {}, { token: ada.token })
    expect(all.companies).toMatchObject([{ company: { id: company }, items: await items() }])
  })

  test('tells operators alone of the disk', async () => {
    await start()
    app.deps.blobs.space = async () => ({ total: 100_000_000_000, free: 4_000_000_000 })
    expect(await items()).toEqual([])
    await app.owner.query(`update "user" set permissions = '{operator,admin}'`)
    expect(await items()).toEqual([
      { kind: 'disk_nearly_full', severity: 'error', count: 96, since: null }
    ])
    app.deps.blobs.space = async () => ({ total: 1e12, free: 2e10 })
    expect(await items()).toEqual([])
  })

  test('says that sealing is paused, and what the daily check of a log has found', async () => {
    await start()
    expect(await items()).toEqual([])
    for (const state of ['behind', 'forked', 'no_checkpoint', 'copied'] as const) {
      await setLogState(app, company, { state })
      expect(await items()).toEqual([
        { kind: 'log_frozen', severity: 'error', count: 1, since: null }
      ])
    }
    await setLogState(app, company, { state: 'running' })
    await app.owner.query(`update log_state set fault = 'entries 0' where company_id = $1`, [
      company
    ])
    expect(await items()).toEqual([
      { kind: 'log_damaged', severity: 'error', count: 1, since: null }
    ])
  })

  test('offers to end a log that was begun on localhost, once the company has proved a host', async () => {
    await start()
    const beta = app.companies['beta.localhost']
    const bea = await app.signUp('beta.localhost')
    await makeAdmins(app.owner)
    const log = 'acme.localhost/log'
    const offers = async () => (await items()).filter(({ kind }) => kind === 'log_named_localhost')
    await makeDomain(app.owner, company, '*.example.com')
    await makeDomain(app.owner, company, 'other.localhost')
    const id = await makeDomain(app.owner, company, 'docs.example.com')
    const domainIs = (change: string) =>
      app.owner.query(`update domain set ${change} where id = $1`, [id])
    await domainIs(`verified_at = null, proof_token = 'token'`)
    expect(await offers()).toEqual([])
    await domainIs('verified_at = now(), proof_token = null')
    const domains = [{ id, host: 'docs.example.com' }]
    const offer = { kind: 'log_named_localhost', severity: 'info', count: 1, since: null }
    expect(await items()).toEqual([{ ...offer, log, domains }])
    expect(await bea.call(getAttention, { id: beta })).toMatchObject({ items: [] })
    await expect(bea.call(getAttention, { id: company })).rejects.toMatchObject({
      code: 'not_found'
    })

    await createEmptyDemo(app.deps)
    const demo = (await findDemo(app.deps))?.company_id ?? company
    await makeDomain(app.owner, demo, 'demo.example.com')
    const ofDemo = await collectAttention(app.deps, { company_id: demo, isOperator: false })
    expect(ofDemo).toMatchObject({ items: [], unchecked: [] })
    await setLogState(app, company, { state: 'behind' })
    expect(await offers()).toEqual([])
    await setLogState(app, company, { state: 'running' })

    // the primary domain stays the one on localhost
    await app.owner.query(`update domain set is_primary = true where host = 'acme.localhost'`)
    expect(await offers()).toHaveLength(1)
    const { socketDir, name: database } = app.database
    const owner = await openDatabase({ socketDir, database, asOwner: true })
    const { successor } = await retireLog({ ...app.deps, db: owner }, company)
    await owner.close()
    expect(successor).toBe('docs.example.com/log')
    expect(await items()).toEqual([])
  })

  test('still says the rest when a check fails', async () => {
    await start({ limits: { max_requests: 1 } })
    app.deps.settings.mailServer = true
    await app.deposit(ada, randomBytes(10))
    await app.owner.query('alter table mail rename to mail_away')
    const { items: found, unchecked } = await attention()
    expect(unchecked satisfies AttentionKind[]).toEqual(['mails_delayed', 'invitations_expired'])
    expect(found).toMatchObject([{ kind: 'group_limits' }])
    expect(app.logged).toContainEqual(
      expect.objectContaining({ level: 'error', text: 'a check for what needs attention failed' })
    )
  })

  const everyone = () => ({ id: expect.any(String), name: 'Everyone' })
  const attention = () => ada.call(getAttention, { id: company }, { token: ada.token })
  const items = async () => (await attention()).items
})

describe('what needs attention in all companies', () => {
  afterEach(() => app[Symbol.asyncDispose]())

  test('leaves out what is in order, and names the most severe first', async () => {
    await start({ limits: { max_requests: 10, max_storage: null } })
    const beta = app.companies['beta.localhost']
    const bea = await app.signUp('beta.localhost')
    await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [bea.id])
    const names = new Map<string, string>([
      [company, 'Acme'],
      [beta, 'Beta']
    ])
    await app.owner.query(`update "user" set permissions = '{operator}' where id = $1`, [ada.id])
    expect(await ada.call(getAttentionOfAllCompanies, {})).toEqual({
      checked: expect.stringMatching(/Z$/),
      has_mail_server: false,
      items: [],
      unchecked: [],
      companies: [],
      skipped: 0
    })
    await makePerson(app, true)
    for (let n = 0; n < 10; n++) await app.deposit(bea, randomBytes(10))
    app.deps.blobs.space = async () => ({ total: 100_000_000_000, free: 4_000_000_000 })
    const found = await ada.call(getAttentionOfAllCompanies, {})
    expect(found.items).toMatchObject([{ kind: 'disk_nearly_full' }])
    expect(found.companies).toMatchObject([
      { company: { id: beta }, items: [{ kind: 'group_limits', severity: 'error' }] },
      { company: { id: company }, items: [{ kind: 'invitations_by_hand', severity: 'warning' }] }
    ])
    for (const each of found.companies) expect(each.company.name).toBe(names.get(each.company.id))
    await expect(bea.call(getAttentionOfAllCompanies, {})).rejects.toMatchObject({
      code: 'forbidden'
    })
  })

  test('names a company that nobody administers any more', async () => {
    await start()
    const beta = app.companies['beta.localhost']
    await app.owner.query(`update "user" set permissions = '{operator}' where id = $1`, [ada.id])
    const found = async () => (await ada.call(getAttentionOfAllCompanies, {})).companies
    // nobody has been there yet
    expect(await found()).toEqual([])
    const bea = await app.signUp('beta.localhost')
    const set = (change: string) =>
      app.owner.query(`update "user" set ${change} where id = $1`, [bea.id])
    const missing = { kind: 'no_administrator', severity: 'warning', count: 1, since: null }
    expect(await found()).toMatchObject([{ company: { id: beta }, items: [missing] }])
    await set(`permissions = '{admin}'`)
    expect(await found()).toEqual([])
    await set(`deleted_at = now()`)
    expect(await found()).toMatchObject([{ company: { id: beta }, items: [missing] }])
  })

  test('says how many companies were not checked in time', async () => {
    await start()
    await app.owner.query(`update "user" set permissions = '{operator}' where id = $1`, [ada.id])
    const { clock } = app.deps
    let calls = 0
    // each look at the clock takes a second
    const slow = { ...app.deps, clock: () => new Date(clock().getTime() + 1000 * calls++) }
    const { skipped, companies } = await collectAttentionOfAllCompanies(slow)
    expect(companies).toEqual([])
    expect(skipped).toBe(1)
  })
})

async function queueMail(company_id: string, subject: string, kind: string): Promise<void> {
  await app.owner.query(
    `insert into mail (company_id, id, kind, email, locale, host, subject, created_at, next_at)
     values ($1, $2, $3, 'queued@example.com', 'en', 'acme.localhost', $4, $5, $5)`,
    [company_id, randomUUID(), kind, subject, app.deps.clock()]
  )
}

/** Returns the current day of the app's clock, in UTC. */
function today(): string {
  return app.deps.clock().toISOString().slice(0, 10)
}
