import { receiveCspReports } from '../../contract/csp-reports.ts'
import { parseCspViolations } from '../../core/http-headers/csp-reports.ts'
import { consumeFloodLimit } from '../domain/limits/rate-limits.ts'
import { type Api, hostCompanyId } from './kit/context.ts'
import { mountNonJsonEndpoint, readJsonBody } from './kit/mount.ts'
import { invalidFieldError } from './kit/refused-fields.ts'

const types = ['application/reports+json', 'application/csp-report', 'application/json']

export function mountCspReports(app: Api): void {
  mountNonJsonEndpoint(app, receiveCspReports, async (_input, c) => {
    const company = hostCompanyId(c)
    await consumeFloodLimit(c.get('deps'), 'csp_report_address', [
      company,
      { address: c.get('address') }
    ])
    const reports = parseCspViolations(await readJsonBody(c, types))
    if (!reports) {
      throw invalidFieldError('(body)', { rule: 'format', detail: 'a report of a policy' })
    }
    for (const report of reports) {
      c.get('deps').log.warn(
        { company, csp: report },
        'a browser reported a violation of the content security policy'
      )
    }
    return c.body(null, 204)
  })
}
