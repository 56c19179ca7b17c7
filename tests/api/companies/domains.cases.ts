import { randomUUID } from 'node:crypto'
import {
  confirmSessions,
  domainIdOf,
  idempotencyKeyRefusals,
  makeDomain,
  type RefusalContext,
  type Refusals,
  type RouteCases,
  withBoundsReached
} from '../../helpers/cases.ts'

export const rows: RouteCases = {
  listDomains: {
    input: () => ({ limit: 10, q: 'o', sort: '-created', state: 'verified' }),
    ids: { id: 'company', cursor: 'domain' },
    shared: true
  },
  createDomain: {
    input: () => ({
      host: `${randomUUID().slice(0, 8)}.example.com`,
      name: 'Deeds',
      title: 'Deeds',
      public: false,
      locale: 'fr'
    })
  },
  getDomain: { ids: { id: 'domain' }, shared: true },
  updateDomain: {
    input: updateDomainInput,
    ids: { id: 'domain' },
    shared: true
  },
  deleteDomain: {
    input: async app => {
      await confirmSessions(app)
      return {}
    },
    ids: { id: 'domain' },
    shared: true,
    spends: 'domain'
  },
  checkDomain: { ids: { id: 'domain' }, shared: true },
  moveDomainToCompany: {
    reachesOthers: true,
    input: async app => {
      await confirmSessions(app)
      return { company_id: app.companies['beta.localhost'] }
    },
    ids: { id: 'domain' },
    shared: true,
    spends: 'domain'
  },
  makeDomainPrimary: { ids: { id: 'domain' }, shared: true },
  getDomainThemes: { ids: { id: 'domain' }, shared: true },
  saveThemeDraft: { input: () => look, ids: { id: 'domain' }, shared: true },
  deleteThemeDraft: { ids: { id: 'domain' }, shared: true },
  publishTheme: { ids: { id: 'domain' }, shared: true },
  publishEarlierTheme: { input: () => ({ number: 1 }), ids: { id: 'domain' }, shared: true },
  getDomainConfig: { ids: { domain: 'host' }, refusal: 'unknown_domain', shared: true }
}

/** Returns functions that each provoke one error code of a call: `'createDomain host_taken'`. */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ask } = stage
  return {
    'createDomain host_not_allowed': () => ask('createDomain', { host: 'co.uk' }),
    'createDomain host_taken': () => ask('createDomain', { host: 'beta.localhost' }),
    'createDomain too_many_domains': () =>
      withBoundsReached(app, () => ask('createDomain', { host: 'more.example.com' })),
    'createDomain too_many_claims': async () => {
      const company = app.companies['acme.localhost']
      await app.owner.query(
        `insert into domain (company_id, id, host, name, title, public, locale, theme, created_at)
         select company_id, gen_random_uuid(), 'claim' || n || '.example.com', name, title, false,
                locale, theme, created_at
           from domain, generate_series(1, 20) n where host = 'acme.localhost'`
      )
      const refused = await ask('createDomain', { host: 'more.example.com' })
      await app.owner.query(
        `delete from domain where company_id = $1 and host like 'claim%.example.com'`,
        [company]
      )
      return refused
    },
    'createDomain default_group_private': async () => {
      await app.owner.query(`update domain set public = false where host = 'acme.localhost'`)
      await app.owner.query(`update category set visibility = 'private' where company_id = $1`, [
        app.companies['acme.localhost']
      ])
      const refused = await ask('createDomain', { host: 'open.example.com', public: true })
      await app.owner.query(
        `update category set visibility = 'public';
         update domain set public = true where host = 'acme.localhost'`
      )
      return refused
    },
    ...idempotencyKeyRefusals(stage, 'createDomain', 'POST /domain', (headers, text) =>
      ask('createDomain', { host: `${text}.example.com` }, headers)
    ),
    'deleteDomain confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      const id = await makeDomain(app.owner, app.companies['acme.localhost'])
      return ask('deleteDomain', { id })
    },
    'deleteDomain domain_needed': async () => {
      await confirmSessions(app)
      return ask('deleteDomain', { id: await domainIdOf(app.owner, 'acme.localhost') })
    },
    'deleteDomain domain_covers_others': async () => {
      await confirmSessions(app)
      const id = await makeDomain(app.owner, app.companies['acme.localhost'], '*.lent.example.com')
      await makeDomain(app.owner, app.companies['beta.localhost'], 'docs.lent.example.com')
      await app.owner.query(
        `update domain set covered_by = $1 where host = 'docs.lent.example.com'`,
        [app.companies['acme.localhost']]
      )
      // operators may
      await app.owner.query(`update "user" set permissions = '{admin}'`)
      return ask('deleteDomain', { id })
    },
    'deleteDomain changed_meanwhile': async () => {
      await confirmSessions(app)
      const id = await makeDomain(app.owner, app.companies['acme.localhost'])
      return ask('deleteDomain', { id }, { 'if-match': '"999"' })
    },
    'moveDomainToCompany confirmation_required': async () => {
      await app.owner.query('update session set confirmed_until = null')
      return ask('moveDomainToCompany', {
        id: await makeDomain(app.owner, app.companies['acme.localhost']),
        company_id: app.companies['beta.localhost']
      })
    },
    'moveDomainToCompany domain_needed': async () => {
      await confirmSessions(app)
      const id = await domainIdOf(app.owner, 'acme.localhost')
      return ask('moveDomainToCompany', { id, company_id: app.companies['beta.localhost'] })
    },
    'moveDomainToCompany host_taken': async () => {
      await confirmSessions(app)
      const [acme, beta] = [app.companies['acme.localhost'], app.companies['beta.localhost']]
      const [id, claimed] = [await makeDomain(app.owner, acme), await makeDomain(app.owner, beta)]
      await app.owner.query(
        `update domain set verified_at = null, host = (select host from domain where id = $1)
          where id = $2`,
        [id, claimed]
      )
      return ask('moveDomainToCompany', { id, company_id: beta })
    },
    'moveDomainToCompany too_many_domains': async () => {
      await confirmSessions(app)
      const id = await makeDomain(app.owner, app.companies['acme.localhost'])
      const company_id = app.companies['beta.localhost']
      return withBoundsReached(app, () => ask('moveDomainToCompany', { id, company_id }))
    },
    'makeDomainPrimary domain_unsuitable': async () => {
      const id = await makeDomain(app.owner, app.companies['acme.localhost'])
      await app.owner.query('update domain set verified_at = null where id = $1', [id])
      return ask('makeDomainPrimary', { id })
    },
    'saveThemeDraft svg_refused': async () => {
      const id = await domainIdOf(app.owner, 'acme.localhost')
      return ask('saveThemeDraft', { id, logo: '<script/>' })
    },
    ...Object.fromEntries(
      (['saveThemeDraft', 'deleteThemeDraft', 'publishTheme', 'publishEarlierTheme'] as const).map(
        name => [
          `${name} changed_meanwhile`,
          async () => {
            const id = await domainIdOf(app.owner, 'acme.localhost')
            const input = name === 'publishEarlierTheme' ? { id, number: 1 } : { id }
            return ask(name, input, { 'if-match': '"999"' })
          }
        ]
      )
    ),
    'updateDomain svg_refused': async () => {
      const id = await domainIdOf(app.owner, 'acme.localhost')
      const logo = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
      return ask('updateDomain', { id, theme: { logo } })
    },
    'updateDomain default_group_private': async () => {
      const id = await domainIdOf(app.owner, 'acme.localhost')
      await app.owner.query(`update domain set public = false where host = 'acme.localhost'`)
      await app.owner.query(`update category set visibility = 'private' where company_id = $1`, [
        app.companies['acme.localhost']
      ])
      // no password is asked for what is refused anyway
      await app.owner.query('update session set confirmed_until = null')
      const refused = await ask('updateDomain', { id, public: true })
      await app.owner.query(
        `update category set visibility = 'public';
         update domain set public = true where host = 'acme.localhost'`
      )
      return refused
    },
    'updateDomain confirmation_required': async () => {
      const id = await domainIdOf(app.owner, 'acme.localhost')
      await app.owner.query(`update domain set public = false where host = 'acme.localhost'`)
      await app.owner.query('update session set confirmed_until = null')
      const refused = await ask('updateDomain', { id, public: true })
      await app.owner.query('update domain set public = true where id = $1', [id])
      return refused
    },
    'updateDomain changed_meanwhile': async () => {
      const id = await domainIdOf(app.owner, 'acme.localhost')
      return ask('updateDomain', { id, title: 'Late' }, { 'if-match': '"999"' })
    },
    'getDomainConfig unknown_domain': () => ask('getDomainConfig', { domain: 'beta.localhost' })
  }
}

const drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>'
const look = {
  colors: {
    dark: false,
    background: '#ffffff',
    surface: '#f4f4f4',
    primary: '#114488',
    secondary: '#335577',
    success: '#116633',
    warning: '#996600',
    error: '#aa2222',
    info: '#225588'
  },
  logo: drawing,
  logo_dark: drawing,
  favicon: drawing
}

function updateDomainInput(): object {
  return {
    name: 'Acme documents',
    title: 'Acme',
    public: true,
    locale: 'en',
    theme: look,
    contact: 'help@acme.example',
    privacy: 'https://acme.example/privacy',
    terms: 'https://acme.example/terms'
  }
}
