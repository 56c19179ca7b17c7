import { domainOf, type Refusals, type Rows, type Stage } from '../helpers/cases.ts'

export const rows: Rows = {
  updateDomain: {
    input: updateDomainInput,
    ids: { id: 'domain' },
    shared: true
  },
  getDomainConfig: { ids: { domain: 'host' }, refusal: 'unknown_domain', shared: true }
}

/** How each code that a call lists comes about. */
export function refusals({ app, ask }: Stage): Refusals {
  return {
    'updateDomain svg_refused': async () => {
      const id = await domainOf(app.owner, 'acme.localhost')
      const logo = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
      return ask('updateDomain', { id, logo })
    },
    'updateDomain default_group_private': async () => {
      const id = await domainOf(app.owner, 'acme.localhost')
      await app.owner.query(`update domain set public = false where host = 'acme.localhost'`)
      await app.owner.query(`update category set visibility = 'private' where company_id = $1`, [
        app.companies['acme.localhost']
      ])
      const refused = await ask('updateDomain', { id, public: true })
      await app.owner.query(
        `update category set visibility = 'public'; update domain set public = true`
      )
      return refused
    },
    'updateDomain changed_meanwhile': async () => {
      const id = await domainOf(app.owner, 'acme.localhost')
      return ask('updateDomain', { id, title: 'Late' }, { 'if-match': '"999"' })
    },
    'getDomainConfig unknown_domain': () => ask('getDomainConfig', { domain: 'beta.localhost' })
  }
}

function updateDomainInput(): object {
  return {
    name: 'Acme documents',
    title: 'Acme',
    public: true,
    locale: 'en',
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
    logo: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    favicon: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    contact: 'help@acme.example',
    privacy: 'https://acme.example/privacy',
    terms: 'https://acme.example/terms'
  }
}
