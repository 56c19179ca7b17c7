import { afterAll, beforeAll, expect, test } from 'vitest'
import { requestPasswordReset } from '../../../src/contract/accounts.ts'
import { listAuditEntries, serviceActorId } from '../../../src/contract/audit.ts'
import { createCompany } from '../../../src/contract/companies.ts'
import {
  checkDomain,
  createDomain,
  type DomainDetails,
  deleteDomain,
  getDomain,
  getDomainConfig,
  listDomains,
  makeDomainPrimary,
  moveDomainToCompany,
  updateDomain
} from '../../../src/contract/domains.ts'
import { createInvitationLinks } from '../../../src/contract/members.ts'
import { listRequests } from '../../../src/contract/requests.ts'
import { createUser } from '../../../src/contract/users.ts'
import { inCompany } from '../../../src/server/db/scope.ts'
import { checkAuditLog } from '../../../src/server/domain/audit/audit-check.ts'
import { readDomain } from '../../../src/server/domain/companies/domain-admin.ts'
import { recheckDueDomains } from '../../../src/server/domain/host-proofs/domain-checks.ts'
import { checkDomainsJob } from '../../../src/server/jobs/jobs.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions, domainIdOf, requestOf } from '../../helpers/cases.ts'
import { type DnsServer, startDnsServer, type TxtAnswer } from '../../helpers/servers/dns-server.ts'

const acme = 'acme.localhost'
const beta = 'beta.localhost'

let dns: DnsServer
let app: TestApp
let ada: TestPerson
let bob: TestPerson
beforeAll(async () => {
  dns = await startDnsServer()
  app = await makeApp({ dnsServers: [dns.address] })
  ada = await app.signUp()
  bob = await app.signUp(beta)
  await app.owner.query(`update "user" set permissions = '{admin}' where id = any ($1)`, [
    [ada.id, bob.id]
  ])
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await dns[Symbol.asyncDispose]()
})

let hosts = 0
/** Claims a new host for Acme. Returns the domain and the value that proves it. */
async function claim(host = `docs${++hosts}.acme.fr`, person = ada) {
  const domain = await person.call(createDomain, { host })
  return { ...domain, token: domain.proof?.value ?? '' }
}

/** Claims a new host, creates its DNS record and checks it. Returns the verified domain. */
async function prove(host?: string, person?: TestPerson) {
  const { id, token, proof } = await claim(host, person)
  dns.set(proof?.name ?? '', { txt: [[token]] })
  return (person ?? ada).call(checkDomain, { id })
}

const isServed = (host: string) =>
  app.call(host, getDomainConfig, { domain: host }).then(
    () => true,
    () => false
  )

test('a claimed host is served once DNS has its record', async () => {
  const { id, host, state, proof, token, check } = await claim()
  expect({ state, check }).toEqual({ state: 'unverified', check: null })
  expect(proof).toEqual({ name: `_domain-check.${host}`, value: token, zone: 'acme.fr' })
  expect(token).toMatch(/^[0-9a-f]{40}$/)
  expect(await isServed(host)).toBe(false)
  dns.set(proof?.name ?? '', { txt: [['v=spf1 -all'], [token]] })
  expect(await ada.call(checkDomain, { id })).toMatchObject({
    state: 'verified',
    check: { outcome: 'found', values: expect.arrayContaining([token]) }
  })
  expect(await isServed(host)).toBe(true)
  expect(await isServed(`other.${host}`)).toBe(false)
})

test('tells what DNS answered', async () => {
  const { id, proof } = await claim()
  const name = proof?.name ?? ''
  const answers: [TxtAnswer, string, string[]][] = [
    ['no name', 'no_name', []],
    ['no record', 'no_record', []],
    ['server failure', 'server_failed', []],
    ['refused', 'server_failed', []],
    [{ txt: [['another'], ['one']] }, 'other_value', ['another', 'one']],
    [{ txt: [['a\u0000b']] }, 'other_value', ['a�b']],
    ['silence', 'no_answer', []]
  ]
  for (const [answer, outcome, values] of answers) {
    dns.set(name, answer)
    const { state, check } = await ada.call(checkDomain, { id })
    expect({ state, outcome: check?.outcome, values: check?.values }).toEqual({
      state: 'unverified',
      outcome,
      values
    })
  }
}, 30_000)

test('finds a value in several strings, at an alias and in a long answer', async () => {
  const ways: ((token: string) => TxtAnswer)[] = [
    token => ({ txt: [[token.slice(0, 7), token.slice(7)]] }),
    token => ({ cname: 'proofs.example.net', txt: [[token]] }),
    token => ({ truncated: [...Array.from({ length: 9 }, () => ['x'.repeat(200)]), [token]] })
  ]
  for (const way of ways) {
    const { id, token, proof } = await claim()
    dns.set(proof?.name ?? '', way(token))
    expect(await ada.call(checkDomain, { id })).toMatchObject({ state: 'verified' })
  }
  expect(dns.asked.some(({ over }) => over === 'tcp')).toBe(true)
})

test.for([
  ['quotes that the panel stored', token => ({ txt: [[`"${token}"`]] }), 'found'],
  ['typographic quotes and blanks', token => ({ txt: [[` “${token}” `]] }), 'found'],
  ['upper case', token => ({ txt: [[token.toUpperCase()]] }), 'found'],
  ['an alias without a TXT record', () => ({ cname: 'app.example.net', txt: [] }), 'no_record']
] satisfies [string, (token: string) => TxtAnswer, string][])(
  'understands %s',
  async ([, answer, outcome]) => {
    const { id, token, proof } = await claim()
    dns.set(proof?.name ?? '', answer(token))
    const { state, check } = await ada.call(checkDomain, { id })
    expect([state, check?.outcome]).toEqual([
      outcome === 'found' ? 'verified' : 'unverified',
      outcome
    ])
  }
)

test('tells which addresses DNS has for the pages and the API', async () => {
  const { id, host } = await prove()
  expect((await ada.call(checkDomain, { id })).addresses).toEqual({ pages: [], api: [] })
  dns.set(host, { a: ['192.0.2.7'] })
  const { addresses } = await ada.call(checkDomain, { id })
  expect(addresses).toEqual({ pages: ['192.0.2.7'], api: [] })
})

test('a wildcard is proved at its base and serves one label', async () => {
  const { host, proof } = await prove('*.wild.fr')
  expect(proof?.name).toBe('_domain-check.wild.fr')
  expect([host, await isServed('a.wild.fr'), await isServed('a.b.wild.fr')]).toEqual([
    '*.wild.fr',
    true,
    false
  ])
  // below it nothing has to be proved again
  expect(await claim('legal.wild.fr')).toMatchObject({ state: 'verified', proof: null })
})

test('claims only names that a company can have', async () => {
  const refused = [
    'co.uk',
    '*.co.uk',
    '*.fr',
    'github.io',
    'api.acme.fr',
    '*.api.acme.fr',
    'docs.acme.nosuchtld',
    '-docs.acme.fr',
    'docs-.acme.fr',
    `${'a'.repeat(64)}.fr`,
    '127.0.0.1',
    '0x7f.1',
    'localhost',
    '*.localhost'
  ]
  for (const host of refused) {
    await expect(ada.call(createDomain, { host })).rejects.toMatchObject({
      code: 'host_not_allowed'
    })
  }
  for (const host of [
    'docs acme.fr',
    'docs/acme.fr',
    'http://acme.fr',
    'acme.fr:80',
    '',
    'a.*.acme.fr',
    `${'a.'.repeat(126)}fr`,
    'a\ud800.fr'
  ]) {
    await expect(ada.call(createDomain, { host })).rejects.toMatchObject({ code: 'invalid_input' })
  }
  expect((await ada.call(createDomain, { host: 'Été.Acme.FR' })).host).toBe('xn--t-9fab.acme.fr')
})

test('a claim blocks nobody, tells nothing of other claims, and of those who prove a host at once one has it', async () => {
  const host = 'race.example.com'
  const claims = await Promise.all([ada, bob].map(async by => ({ by, ...(await claim(host, by)) })))
  const [first, second] = claims.map(({ by: _, id, token, proof, created, ...seen }) => seen)
  expect(first?.state).toBe('unverified')
  // what names the company comes from the company itself
  const named = { name: 'Beta', title: 'Beta', theme: second?.theme }
  expect({ ...first, ...named }).toEqual({ ...second, ...named })
  expect(claims[0]?.token).not.toBe(claims[1]?.token)
  await expect(claim(host)).rejects.toMatchObject({ code: 'host_taken' })

  dns.set(`_domain-check.${host}`, { txt: claims.map(({ token }) => [token]) })
  const checks = claims.flatMap(({ by, id }) => [by, by, by].map(each => ({ by: each, id })))
  await Promise.all(checks.map(({ by, id }) => by.call(checkDomain, { id })))
  const found = await Promise.all(claims.map(({ by, id }) => by.call(getDomain, { id })))
  expect(found.map(({ state }) => state).toSorted()).toEqual(['taken', 'verified'])
  const [winner, loser] = found[0]?.state === 'verified' ? [ada, bob] : [bob, ada]
  const { company } = await app.call(host, getDomainConfig, { domain: host })
  expect(company).toBe(winner === ada ? 'Acme' : 'Beta')
  const { rows } = await app.owner.query(
    `select company_id from audit_entry where action = 'domain.verify' and target_id = any ($1)`,
    [claims.map(({ id }) => id)]
  )
  expect(rows).toEqual([{ company_id: winner.company }])
  const list = await loser.call(listDomains, {
    id: loser.company,
    state: 'taken'
  })
  expect(list).toMatchObject([{ host, proof: { name: `_domain-check.${host}` } }])
})

test('a wildcard and the hosts below it are claimed and proved each for itself', async () => {
  const [wild, exact, covered] = [
    await claim('*.overlap.fr', bob),
    await claim('docs.overlap.fr', bob),
    await claim('legal.overlap.fr', bob)
  ]
  await prove('*.overlap.fr')
  const stateOf = async ({ id }: { id: string }) => (await bob.call(getDomain, { id })).state
  expect([await stateOf(wild), await stateOf(exact)]).toEqual(['taken', 'unverified'])
  // another company's wildcard proves nothing
  expect((await bob.call(checkDomain, { id: exact.id })).check?.outcome).not.toBe('found')
  dns.set(exact.proof?.name ?? '', { txt: [[exact.token]] })
  expect(await bob.call(checkDomain, { id: exact.id })).toMatchObject({ state: 'verified' })
  const ownerOf = async (host: string) =>
    (await app.call(host, getDomainConfig, { domain: host })).company
  expect([await ownerOf('docs.overlap.fr'), await ownerOf('any.overlap.fr')]).toEqual([
    'Beta',
    'Acme'
  ])
  await expect(claim('docs.overlap.fr')).rejects.toMatchObject({ code: 'host_taken' })
  expect((await claim('legal.overlap.fr')).state).toBe('verified')
  expect(await stateOf(covered)).toBe('taken')
})

test('a domain that is removed during its check stays removed', async () => {
  const { id, host, token, proof } = await claim()
  dns.set(proof?.name ?? '', { txt: [[token]] })
  await confirmSessions(app)
  const [checked, removed] = await Promise.allSettled([
    ada.call(checkDomain, { id }),
    ada.call(deleteDomain, { id })
  ])
  expect(removed.status).toBe('fulfilled')
  if (checked.status === 'rejected') expect(checked.reason.code).toBe('not_found')
  await expect(ada.call(getDomain, { id })).rejects.toMatchObject({ code: 'not_found' })
  expect(await isServed(host)).toBe(false)
})

/**
 * Moves the last check of each domain whose host is like `pattern` some days into the past. Then
 * checks the domains of `company` again.
 */
async function ageAndRecheck(
  pattern: string,
  days: number,
  company: typeof acme | typeof beta = acme
): Promise<void> {
  await app.owner.query(
    `update domain set checked_at = checked_at - $2 * interval '1 day',
       failing_since = failing_since - $2 * interval '1 day' where host like $1`,
    [pattern, days]
  )
  while (await recheckDueDomains(app.deps, app.companies[company]));
}

test('a record that goes missing ends the domain after seven days, and its return brings it back', async () => {
  const { id, host, proof } = await prove()
  const name = proof?.name ?? ''
  const stateAfter = async (days: number) => {
    await ageAndRecheck(host, days)
    return (await ada.call(getDomain, { id })).state
  }
  dns.set(name, 'server failure')
  expect(await stateAfter(8)).toBe('verified')
  dns.delete(name)
  expect(await stateAfter(0.5)).toBe('verified')
  expect(await stateAfter(1)).toBe('failing')
  expect(await stateAfter(6)).toBe('failing')
  expect(await isServed(host)).toBe(true)
  // an outage of DNS ends nothing
  dns.set(name, 'server failure')
  expect(await stateAfter(2)).toBe('failing')
  dns.delete(name)
  expect(await stateAfter(1)).toBe('quarantined')
  expect(await isServed(host)).toBe(false)
  dns.set(name, { txt: [[proof?.value ?? '']] })
  expect(await stateAfter(1)).toBe('verified')
  expect(await isServed(host)).toBe(true)

  // meanwhile another company can prove the host, which then keeps it
  dns.delete(name)
  expect(await stateAfter(1)).toBe('failing')
  expect(await stateAfter(8)).toBe('quarantined')
  const other = await claim(host, bob)
  dns.set(name, { txt: [[proof?.value ?? ''], [other.token]] })
  expect((await bob.call(checkDomain, { id: other.id })).state).toBe('verified')
  expect(await stateAfter(1)).toBe('taken')
  // what tells a host that was lost from one that was never had
  const lost = await ada.call(checkDomain, { id })
  expect(lost).toMatchObject({ state: 'taken', quarantined_since: expect.any(String) })
  expect((await ada.call(updateDomain, { id, title: 'Kept' })).title).toBe('Kept')
  expect(await claimedBeside(host)).toMatchObject({ state: 'taken', quarantined_since: null })
  expect((await app.call(host, getDomainConfig, { domain: host })).company).toBe('Beta')
  await confirmSessions(app)
  await bob.call(deleteDomain, { id: other.id })
  expect(await ada.call(checkDomain, { id })).toMatchObject({
    state: 'verified',
    quarantined_since: null,
    title: 'Kept'
  })
})

/**
 * Creates a company that has claimed `host` but never proved it, although another company has.
 * Returns the new company's domain.
 */
async function claimedBeside(host: string) {
  const third = await app.addCompany('Third', `third${++hosts}.localhost`)
  const { rows } = await app.owner.query(
    `insert into domain (company_id, id, host, name, title, public, locale, theme, proof_token)
     select company_id, gen_random_uuid(), $2, name, title, false, locale, theme, 'unused'
       from domain where company_id = $1 returning id`,
    [third, host]
  )
  return inCompany(app.deps.db, third, tx => readDomain(tx, rows[0].id))
}

test('a host below a wildcard needs a record of its own once the wildcard is gone', async () => {
  const ageAll = (days: number) => ageAndRecheck('%gone.fr', days)
  const stateOf = async ({ id }: { id: string }) => (await ada.call(getDomain, { id })).state
  const wild = await prove('*.gone.fr')
  const [kept, lost] = [await claim('kept.gone.fr'), await claim('lost.gone.fr')]
  const deeper = await prove('a.kept.gone.fr')
  expect(lost).toMatchObject({ state: 'verified', proof: null })
  dns.delete('_domain-check.gone.fr')
  await ageAll(2)
  await ageAll(8)
  expect([await stateOf(wild), await stateOf(lost)]).toEqual(['quarantined', 'failing'])
  expect(await isServed(lost.host)).toBe(true)
  expect((await ada.call(getDomain, { id: deeper.id })).proof).toEqual(deeper.proof)
  const { proof } = await ada.call(getDomain, { id: kept.id })
  dns.set('_domain-check.kept.gone.fr', { txt: [[proof?.value ?? '']] })
  await ageAll(2)
  expect([await stateOf(kept), await stateOf(lost)]).toEqual(['verified', 'failing'])
  await ageAll(8)
  expect([await stateOf(kept), await stateOf(lost)]).toEqual(['verified', 'quarantined'])
  expect((await prove('lost.gone.fr', bob)).state).toBe('verified')

  // the same if the wildcard is removed or moved
  const endings = [
    (id: string) => ada.call(deleteDomain, { id }),
    (id: string) => ada.call(moveDomainToCompany, { id, company_id: app.companies[beta] })
  ]
  await asOperator(async () => {
    for (const end of endings) {
      const { id } = await prove('*.ended.fr')
      const below = await claim(`docs${++hosts}.ended.fr`)
      await end(id)
      // its page and “Needs attention” say so before the first check
      expect(await ada.call(getDomain, { id: below.id })).toMatchObject({
        state: 'failing',
        check: null,
        proof: { name: `_domain-check.${below.host}`, value: expect.any(String) }
      })
    }
  })
})

test('hosts of other companies below an operator’s wildcard need a record once it is lost', async () => {
  const to = app.companies[beta]
  const endings: ((id: string, host: string) => Promise<unknown>)[] = [
    async (_id, host) => {
      dns.delete(`_domain-check.${host.slice(2)}`)
      await ageAndRecheck(host, 2)
      await ageAndRecheck(host, 8)
    },
    id => ada.call(deleteDomain, { id }),
    id => ada.call(moveDomainToCompany, { id, company_id: to })
  ]
  for (const end of endings) {
    const zone = `lent${++hosts}.fr`
    const { id } = await prove(`*.${zone}`)
    await asOperator(async () => {
      const theirs = await createFor(to, `docs.${zone}`)
      const first = await ada.call(createCompany, {
        name: `Lodger ${zone}`,
        host: `legal.${zone}`,
        email: 'first@lodger.example'
      })
      expect([theirs.state, theirs.proof]).toEqual(['verified', null])
      // proved before or beside the wildcard, as by `vidimus init`
      const unrelated = await addProved(to, `site.${zone}`)
      await end(id, `*.${zone}`)
      const { rows } = await app.owner.query(
        `select host, proof_token, verified_at is not null as served, company_id from domain
          where host = any ($1) order by host`,
        [[`docs.${zone}`, `legal.${zone}`]]
      )
      const [docs, legal] = rows
      expect(legal).toMatchObject({ company_id: first.id, served: true })
      expect(await bob.call(getDomain, { id: unrelated })).toMatchObject({
        state: 'verified',
        proof: null,
        failing_since: null
      })
      expect(legal.proof_token).toMatch(/^[0-9a-f]{40}$/)
      expect(docs.served).toBe(true)
      expect(docs.proof_token).not.toBe(legal.proof_token)
      // whoever has the wildcard now has proved its own hosts with it
      const isMoved = end === endings[2]
      expect(docs.proof_token === null).toBe(isMoved)
      if (isMoved) return
      await ageAndRecheck(docs.host, 2, beta)
      await ageAndRecheck(docs.host, 8, beta)
      expect((await bob.call(getDomain, { id: theirs.id })).state).toBe('quarantined')
    })
  }
})

test('the daily check says in the audit logs what it has found', async () => {
  const to = app.companies[beta]
  const zone = `daily${++hosts}.fr`
  const wild = await prove(`*.${zone}`)
  const theirs = await asOperator(() => createFor(to, `docs.${zone}`))
  const recheck = (days: number) => ageAndRecheck(`*.${zone}`, days)
  dns.delete(`_domain-check.${zone}`)
  await recheck(2)
  await recheck(1)
  dns.set(`_domain-check.${zone}`, { txt: [[wild.proof?.value ?? '']] })
  await recheck(2)
  dns.delete(`_domain-check.${zone}`)
  await recheck(2)
  await recheck(8)
  dns.set(`_domain-check.${zone}`, { txt: [[wild.proof?.value ?? '']] })
  await recheck(2)
  const entriesOf = async (company: string, target: string) => {
    const { rows } = await app.owner.query(
      `select action, actor_id, actor_company_id from audit_entry
        where company_id = $1 and target_id = $2 and actor_id = $3 order by seq`,
      [company, target, serviceActorId]
    )
    expect(rows.every(row => row.actor_company_id === company)).toBe(true)
    return rows.map(({ action }) => action)
  }
  expect(await entriesOf(app.companies['acme.localhost'], wild.id)).toEqual([
    'domain.miss_record',
    'domain.find_record',
    'domain.miss_record',
    'domain.turn_off',
    'domain.verify'
  ])
  expect(await entriesOf(to, theirs.id)).toEqual(['domain.uncover', 'domain.cover'])
  const [newest] = await bob.call(listAuditEntries, { id: to, target: theirs.id })
  expect(newest).toMatchObject({
    action: 'domain.cover',
    actor: { id: serviceActorId, name: null },
    target: { name: `docs.${zone}` }
  })
  for (const company of [app.companies['acme.localhost'], to]) {
    expect((await checkAuditLog(app.deps, company)).broken).toBeUndefined()
  }
})

test('whoever checks a wildcard again after seven days has not taken it away from others', async () => {
  const to = app.companies[beta]
  const zone = `pressed${++hosts}.fr`
  const { id } = await prove(`*.${zone}`)
  const theirs = await asOperator(() => createFor(to, `docs.${zone}`))
  dns.delete(`_domain-check.${zone}`)
  await ageAndRecheck(`*.${zone}`, 2)
  await app.owner.query(
    `update domain set failing_since = failing_since - interval '8 days' where id = $1`,
    [id]
  )
  expect((await ada.call(checkDomain, { id })).state).toBe('quarantined')
  const [newest] = await bob.call(listAuditEntries, { id: to, target: theirs.id })
  expect(newest).toMatchObject({
    action: 'domain.uncover',
    actor: { id: serviceActorId, name: null }
  })
  expect((await checkAuditLog(app.deps, to)).broken).toBeUndefined()
})

test('a wildcard that carries hosts of others is removed by operators alone, and its return is told and mends', async () => {
  const to = app.companies[beta]
  const zone = `carried${++hosts}.fr`
  const { id } = await prove(`*.${zone}`)
  const theirs = await asOperator(() => createFor(to, `docs.${zone}`))
  const refused = await ada.call(getDomain, { id })
  expect(refused.covers).toEqual({ count: 1, hosts: [] })
  await confirmSessions(app)
  await expect(ada.call(deleteDomain, { id })).rejects.toMatchObject({
    code: 'domain_covers_others'
  })
  const stateOf = async () => (await bob.call(getDomain, { id: theirs.id })).state
  expect(await stateOf()).toBe('verified')
  await asOperator(async () => {
    // its page names them
    expect((await ada.call(getDomain, { id })).covers).toEqual({
      count: 1,
      hosts: [{ host: `docs.${zone}`, company: 'Beta' }]
    })
    await ada.call(deleteDomain, { id })
  })
  expect(await stateOf()).toBe('failing')
  await ageAndRecheck(`docs.${zone}`, 2, beta)
  await ageAndRecheck(`docs.${zone}`, 8, beta)
  expect(await stateOf()).toBe('quarantined')

  await prove(`*.${zone}`)
  expect(await bob.call(getDomain, { id: theirs.id })).toMatchObject({
    state: 'verified',
    proof: null,
    failing_since: null,
    quarantined_since: null
  })
  const { rows } = await app.owner.query(
    `select e.action, v.changes::jsonb #> '{after}' as after
       from audit_entry e join audit_value v using (company_id, seq)
      where e.company_id = $1 and e.target_id = $2 order by e.seq`,
    [to, theirs.id]
  )
  const after = { host: `docs.${zone}`, wildcard: `*.${zone}` }
  expect(rows.slice(1)).toEqual([
    { action: 'domain.uncover', after },
    { action: 'domain.turn_off', after: { host: after.host } },
    { action: 'domain.cover', after }
  ])
})

/**
 * Adds a domain to a company as verified, although it has no DNS record. Returns the domain's id.
 */
async function addProved(company: string, host: string): Promise<string> {
  const { rows } = await app.owner.query(
    `insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at)
     select company_id, gen_random_uuid(), $2, name, title, false, locale, theme, now()
       from domain where company_id = $1 limit 1 returning id`,
    [company, host]
  )
  return rows[0].id
}

test('a host that is created while its wildcard ends is proved by itself or not at all', async () => {
  const to = app.companies[beta]
  await asOperator(async () => {
    for (let round = 0; round < 5; round++) {
      const zone = `racing${++hosts}.fr`
      const { id } = await prove(`*.${zone}`)
      await Promise.all([createFor(to, `docs.${zone}`), ada.call(deleteDomain, { id })])
      const { rows } = await app.owner.query('select proof_token from domain where host = $1', [
        `docs.${zone}`
      ])
      expect(rows).toEqual([{ proof_token: expect.any(String) }])
    }
  })
})

/** Runs `run` while Ada is an operator whose session is confirmed. */
async function asOperator<T>(run: () => Promise<T>): Promise<T> {
  const set = (permissions: string) =>
    app.owner.query('update "user" set permissions = $2 where id = $1', [ada.id, permissions])
  await set('{admin,operator}')
  await confirmSessions(app)
  try {
    return await run()
  } finally {
    await set('{admin}')
  }
}

/** Creates a domain in a company that is not Ada's. Ada must be an operator. */
async function createFor(company: string, host: string): Promise<DomainDetails> {
  const headers = { authorization: `Bearer ${ada.token}`, company }
  const answer = await app.request(`api.${acme}`, requestOf(createDomain, { host }, headers))
  return createDomain.output.parse(JSON.parse(answer.body.toString()))
}

test('lists the domains by host, by age and by state', async () => {
  const id = app.companies[acme]
  const all = await ada.call(listDomains, { id, limit: 200 })
  expect(all.map(({ host }) => host)).toEqual(all.map(({ host }) => host).toSorted())
  expect(all.filter(({ primary }) => primary).map(({ host }) => host)).toEqual([acme])
  const wild = await ada.call(listDomains, { id, q: 'wild', sort: '-created' })
  expect(wild.map(({ host }) => host)).toEqual(['legal.wild.fr', '*.wild.fr'])
  const open = await ada.call(listDomains, { id, state: 'unverified', limit: 200 })
  expect(open.map(each => each.id)).toEqual(
    all.filter(({ state }) => state === 'unverified').map(each => each.id)
  )
})

test('removes a domain with its tokens, but never the primary one', async () => {
  const { id, host } = await prove()
  await confirmSessions(app)
  const token = await app.signIn({ ...ada, host })
  await app.call(host, listRequests, {}, { token })
  const primary = await domainIdOf(app.owner, acme)
  await expect(ada.call(deleteDomain, { id: primary })).rejects.toMatchObject({
    code: 'domain_needed',
    uses: { users: expect.any(Number) }
  })
  await ada.call(deleteDomain, { id })
  await expect(app.call(host, listRequests, {}, { token })).rejects.toMatchObject({
    code: 'unknown_host'
  })
})

test('moves a host to another company with its look and without its tokens', async () => {
  const { id, host } = await prove()
  const token = await app.signIn({ ...ada, host })
  const to = app.companies[beta]
  const moved = await asOperator(() => ada.call(moveDomainToCompany, { id, company_id: to }))
  expect(moved).toMatchObject({ host, state: 'verified', public: false, name: 'Beta' })
  expect((await app.call(host, getDomainConfig, { domain: host })).company).toBe('Beta')
  await expect(app.call(host, listRequests, {}, { token })).rejects.toMatchObject({
    code: 'unauthenticated'
  })
  await expect(ada.call(getDomain, { id })).rejects.toMatchObject({ code: 'not_found' })
  expect((await bob.call(getDomain, { id: moved.id })).host).toBe(host)
})

test('moves in opposite directions at the same time all succeed', async () => {
  const to = app.companies[beta]
  const [first, second] = [await prove(), await prove()]
  const { rows } = await app.owner.query('select permissions from "user" where id = $1', [bob.id])
  await app.owner.query(`update "user" set permissions = '{operator,admin}' where id = $1`, [
    bob.id
  ])
  await asOperator(async () => {
    let here = first.id
    let there = (await ada.call(moveDomainToCompany, { id: second.id, company_id: to })).id
    for (let time = 0; time < 5; time++) {
      const [gone, back] = await Promise.all([
        ada.call(moveDomainToCompany, { id: here, company_id: to }),
        bob.call(moveDomainToCompany, { id: there, company_id: ada.company })
      ])
      here = back.id
      there = gone.id
    }
  })
  await app.owner.query('update "user" set permissions = $2 where id = $1', [
    bob.id,
    rows[0].permissions
  ])
})

test('a host that is moved while it is off begins anew in the other company', async () => {
  const to = app.companies[beta]
  const { id, host } = await prove()
  await app.owner.query(
    `update domain set verified_at = null, quarantined_at = now(), failing_since = now(),
       check_outcome = 'no_name', check_values = '{old}' where id = $1`,
    [id]
  )
  await asOperator(async () => {
    const moved = await ada.call(moveDomainToCompany, { id, company_id: to })
    const fresh = { state: 'unverified', check: null, failing_since: null, quarantined_since: null }
    expect(moved).toMatchObject({ host, ...fresh })
    // what concerns a served host stays
    const failing = await prove()
    await app.owner.query('update domain set failing_since = now() where id = $1', [failing.id])
    expect(await ada.call(moveDomainToCompany, { id: failing.id, company_id: to })).toMatchObject({
      state: 'failing',
      check: { outcome: 'found' }
    })
  })
})

test('a move is entered in the audit logs of both companies in its transaction', async () => {
  const to = app.companies[beta]
  const { id, host } = await prove()
  await asOperator(async () => {
    const moved = await ada.call(moveDomainToCompany, { id, company_id: to })
    const { rows } = await app.owner.query(
      `select e.company_id, e.acted_in, e.target_id, v.changes::jsonb as changes,
              e.xmin = d.xmin as is_together
         from domain d, audit_entry e join audit_value v using (company_id, seq)
        where d.id = $1 and e.action = 'domain.move' and e.target_id = any ($2)`,
      [moved.id, [id, moved.id]]
    )
    const from = app.companies[acme]
    const [before, after] = [{ company_id: from }, { company_id: to }]
    const entries = [
      { company_id: from, acted_in: from, target_id: id, changes: { before, after } },
      {
        company_id: to,
        acted_in: to,
        target_id: moved.id,
        changes: { before, after: { ...after, host } }
      }
    ]
    expect(rows).toHaveLength(entries.length)
    expect(rows).toEqual(
      expect.arrayContaining(entries.map(entry => ({ ...entry, is_together: true })))
    )
  })
})

test('a company whose first host is moved there mails its waiting invitations', async () => {
  const { id, host } = await prove()
  await asOperator(async () => {
    const email = 'first@target.example'
    const company = await ada.call(createCompany, { name: 'Target', host: 'docs.target.fr', email })
    const mails = () =>
      app.owner.query('select from invitation where company_id = $1', [company.id])
    expect((await mails()).rowCount).toBe(0)
    await ada.call(moveDomainToCompany, { id, company_id: company.id })
    expect(new URL((await app.mailTo(email, 'activate')).link).host).toBe(host)
    expect((await mails()).rowCount).toBe(1)
  })
})

test('invitations that a move could not mail are mailed later, once', async () => {
  const { id, host } = await prove()
  const email = 'late@waiting.example'
  await asOperator(async () => {
    const company = await ada.call(createCompany, { name: 'Late', host: 'docs.late.fr', email })
    await app.owner.query('revoke insert on invitation from vidimus_app')
    const moved = await ada.call(moveDomainToCompany, { id, company_id: company.id })
    await app.owner.query('grant insert on invitation to vidimus_app')
    expect(moved).toMatchObject({ host, state: 'verified' })
    const job = checkDomainsJob(app.deps)
    await job.run(() => false, true)
    await job.run(() => false, true)
    expect(new URL((await app.mailTo(email, 'activate')).link).host).toBe(host)
    const { rows } = await app.owner.query('select due_at from invitation where company_id = $1', [
      company.id
    ])
    expect(rows).toHaveLength(1)
  })
})

/**
 * Returns Acme's primary host, and the host to which a mail leads that was requested on a host of
 * Acme's wildcard domain.
 */
async function primaryHosts() {
  const all = await ada.call(listDomains, { id: app.companies[acme], limit: 200 })
  const { email } = await app.signUp(acme)
  await app.call('any.wild.fr', requestPasswordReset, { email })
  const { link } = await app.mailTo(email, 'reset')
  return [...all.filter(({ primary }) => primary).map(({ host }) => host), new URL(link).host]
}

test('mails asked for on a host of a wildcard lead to the primary host, which administrators choose', async () => {
  expect(await primaryHosts()).toEqual([acme, acme])
  const { id, host } = await prove()
  const chosen = await ada.call(makeDomainPrimary, { id })
  expect(chosen.primary).toBe(true)
  expect(await ada.call(makeDomainPrimary, { id })).toEqual(chosen)
  expect(await primaryHosts()).toEqual([host, host])
  await confirmSessions(app)
  await expect(ada.call(deleteDomain, { id })).rejects.toMatchObject({ code: 'domain_needed' })
  const { rows } = await app.owner.query(
    `select action from audit_entry where target_id = $1 order by seq`,
    [id]
  )
  expect(rows.map(({ action }) => action)).toEqual([
    'domain.create',
    'domain.verify',
    'domain.primary'
  ])

  // the oldest stands in while the chosen one is not served
  const setServed = (isServed: boolean) =>
    app.owner.query(
      `update domain set verified_at = case when $2 then now() end,
         quarantined_at = case when $2 then null else now() end where id = $1`,
      [id, isServed]
    )
  await setServed(false)
  expect(await primaryHosts()).toEqual([acme, acme])
  await expect(ada.call(makeDomainPrimary, { id })).rejects.toMatchObject({
    code: 'domain_unsuitable'
  })
  await setServed(true)
  expect(await primaryHosts()).toEqual([host, host])
})

test('links to pass on that were asked for on a host of a wildcard lead to the primary host', async () => {
  const host = 'any.wild.fr'
  const token = await app.signIn({ ...ada, host })
  await confirmSessions(app)
  const email = 'passed.on@example.com'
  const { id, link } = await app.call(host, createUser, { email }, { token })
  const { links } = await app.call(host, createInvitationLinks, { ids: [id] }, { token })
  const hosts = [link, links[0]?.link].map(each => new URL(each ?? '').hostname)
  expect(hosts).toEqual(await primaryHosts())
})

test('a wildcard and another company’s domain are never the primary one, and of several chosen at once one is', async () => {
  const [wild] = await ada.call(listDomains, { id: app.companies[acme], q: '*.wild.fr' })
  await expect(ada.call(makeDomainPrimary, { id: wild?.id ?? '' })).rejects.toMatchObject({
    code: 'domain_unsuitable'
  })
  const old = await domainIdOf(app.owner, acme)
  await expect(bob.call(makeDomainPrimary, { id: old })).rejects.toMatchObject({
    code: 'not_found'
  })
  const others = [await prove(), await prove(), await prove()]
  await Promise.all(others.map(({ id }) => ada.call(makeDomainPrimary, { id })))
  expect((await primaryHosts()).length).toBe(2)
  await ada.call(makeDomainPrimary, { id: old })
  expect(await primaryHosts()).toEqual([acme, acme])
})

test('the first administrator of a company is invited when its host is proved, nobody else', async () => {
  await app.owner.query(`update "user" set permissions = '{admin,operator}' where id = $1`, [
    ada.id
  ])
  await confirmSessions(app)
  const email = 'first@newco.example'
  const company = await ada.call(createCompany, { name: 'Newco', host: 'docs.newco.fr', email })
  const id = company.domains[0]?.id ?? ''
  // as an import adds people to whom no invitation shall be sent
  await app.owner.query(
    `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at,
       invited_at, imported_by)
     values ($1, gen_random_uuid(), 'imported@newco.example', 'Imported', now(), now(), now(),
       gen_random_uuid())`,
    [company.id]
  )
  const { rows } = await app.owner.query('select proof_token from domain where id = $1', [id])
  dns.set('_domain-check.docs.newco.fr', { txt: [[rows[0].proof_token]] })
  const answer = await app.fetch(
    new Request(`http://api.${acme}/domain/${id}/check`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ada.token}`,
        company: company.id,
        'content-type': 'application/json'
      },
      body: '{}'
    })
  )
  expect(await answer.json()).toMatchObject({ state: 'verified' })
  expect(new URL((await app.mailTo(email, 'activate')).link).host).toBe('docs.newco.fr')
  const invitations = 'select from invitation where company_id = $1'
  expect((await app.owner.query(invitations, [company.id])).rowCount).toBe(1)
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
})
