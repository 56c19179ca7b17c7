import { afterAll, beforeAll, expect, test } from 'vitest'
import { moveDomainToCompany } from '../../../src/contract/domains.ts'
import { notFoundPage, pages, renderedPathOf } from '../../../src/core/pages/page-table.ts'
import { locales } from '../../../src/i18n/index.ts'
import { readAstroBuild } from '../../../src/server/site/astro-build.ts'
import type { Site } from '../../../src/site/site.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { confirmSessions, makeDomain } from '../../helpers/cases.ts'
import { makeOperators, makeThings } from '../../helpers/matrix.ts'
import { makeSite } from '../../helpers/site.ts'

// B-01: no page has a word of another company

/** A word that only rows of one company contain. */
const wordOf = { 'acme.localhost': 'quokka', 'beta.localhost': 'wombat' }
type Host = keyof typeof wordOf

const paths = locales.flatMap(locale =>
  [...Object.values(pages), notFoundPage].map(page => `/${locale}${renderedPathOf(page)}`)
)
/** Paths of files that need not contain the word of the company. */
const texts = ['/robots.txt', '/.well-known/security.txt', '/.well-known/change-password']

let app: TestApp
let site: Site
beforeAll(async () => {
  app = await makeApp({
    site: { answer: (ask, host) => site.answer(ask, host) }
  })
  site = makeSite({
    pages: await readAstroBuild('dist'),
    resolve: app.tenants.resolve,
    log: app.deps.log
  })
  await writeWords('acme.localhost')
  await writeWords('beta.localhost')
})
afterAll(() => app[Symbol.asyncDispose]())

test('pages have the words of their own company alone: new ones, cached ones, and below a wildcard', async () => {
  const [wild, exact] = [await addHost('beta.localhost'), await addHost('acme.localhost')]
  await app.owner.query(`update domain set host = '*.words.example.com' where id = $1`, [wild])
  await app.owner.query(`update domain set host = 'a.words.example.com' where id = $1`, [exact])
  app.deps.signals.domains.send('words.example.com')
  const hosts: [string, Host][] = [
    ['acme.localhost', 'acme.localhost'],
    ['beta.localhost', 'beta.localhost'],
    ['a.words.example.com', 'acme.localhost'],
    ['b.words.example.com', 'beta.localhost']
  ]
  // the second time from the cache
  for (let time = 0; time < 2; time++) {
    await Promise.all(hosts.map(([host, owner]) => expectWords(host, owner)))
  }
  expect(site.stats().rendered).toBeLessThanOrEqual(hosts.length * paths.length)
})

test('a host that has moved shows no word of its former company', async () => {
  const id = await addHost('beta.localhost')
  const host = await hostOf(id)
  await expectWords(host, 'beta.localhost', ['/en'])
  const operator = await app.signUp('beta.localhost')
  await makeOperators(app.owner)
  await confirmSessions(app)
  await operator.call(moveDomainToCompany, {
    id,
    company_id: app.companies['acme.localhost'] ?? ''
  })
  await expectWords(host, 'acme.localhost', ['/en'])
})

/** Writes a company's word into its people, things and domains. */
async function writeWords(host: Host): Promise<void> {
  const company = app.companies[host]
  const word = wordOf[host]
  const person = await app.signUp(host)
  await makeThings(app, person, `${word}.pdf`)
  const set = (table: string, columns: string) =>
    app.owner.query(`update "${table}" set ${columns} where company_id = $1`, [company, word])
  await app.owner.query('update company set name = $2 where id = $1', [company, word])
  await set('user', `username = $2, email = $2 || id || '@example.com'`)
  await set('group', 'name = $2 || id')
  await set('category', `names = jsonb_build_object('en', $2 || id::text, 'fr', $2 || id::text)`)
  const logo = `<svg xmlns="http://www.w3.org/2000/svg"><title>${word}</title></svg>`
  await app.owner.query(
    `update domain set name = $2, title = $2, contact = $2, version = version + 1,
            privacy = 'https://' || $2 || '.example/', terms = 'https://' || $2 || '.example/',
            theme = theme || jsonb_build_object('logo', $3::text, 'logo_dark', $3::text,
              'favicon', $3::text)
      where company_id = $1`,
    [company, word, logo]
  )
  app.deps.signals.domains.send(host)
}

/** Adds a domain with the look of the company's own one. */
async function addHost(owner: Host): Promise<string> {
  const id = await makeDomain(app.owner, app.companies[owner])
  app.deps.signals.domains.send(await hostOf(id))
  return id
}

async function hostOf(id: string): Promise<string> {
  return (await app.owner.query('select host from domain where id = $1', [id])).rows[0].host
}

/**
 * Reads pages of a host, by default all. Expects the word of `owner` and no word of another
 * company. The files in `texts` may have no such word at all.
 */
async function expectWords(
  host: string,
  owner: Host,
  some: string[] = [...paths, ...texts]
): Promise<void> {
  for (const path of some) {
    const { status, body } = await app.request(host, { path })
    const text = decoded(body.toString()).toLowerCase()
    const found = Object.values(wordOf).filter(word => text.includes(word))
    const expected = texts.includes(path) && found.length === 0 ? [] : [wordOf[owner]]
    expect([host, path, status < 500, found]).toEqual([host, path, true, expected])
  }
}

/** Returns a page with its base64 pictures decoded, so that words inside them can be found. */
function decoded(page: string): string {
  return page.replace(/;base64,([\w+/=]+)/g, (_, data) => Buffer.from(data, 'base64').toString())
}
