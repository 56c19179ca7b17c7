import type { RouteCases } from '../../helpers/cases.ts'

const policyReport = {
  type: 'csp-violation',
  body: { effectiveDirective: 'script-src-elem', documentURL: 'http://acme.localhost/en' }
}

export const rows: RouteCases = {
  receiveCspReports: {
    headers: () => ({ 'content-type': 'application/reports+json' }),
    body: Buffer.from(JSON.stringify([policyReport])),
    status: 204
  }
}
