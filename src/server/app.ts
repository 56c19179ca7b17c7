import { Hono } from 'hono'
import { rawFileAdvice } from '../contract/deposits.ts'
import { endpoints, nonJsonEndpoints } from '../contract/index.ts'
import { AppError } from '../contract/kit/errors.ts'
import { mountAccounts } from './api/accounts.ts'
import { mountApiKeys } from './api/api-keys.ts'
import { mountAudit } from './api/audit.ts'
import { mountCategories } from './api/categories.ts'
import { mountCompanies } from './api/companies.ts'
import { mountCspReports } from './api/csp-reports.ts'
import { mountDataSources } from './api/data-sources.ts'
import { mountDepositBatch } from './api/deposit-batch.ts'
import { mountDeposits } from './api/deposits.ts'
import { mountApiDocumentation } from './api/docs.ts'
import { mountDomains } from './api/domains.ts'
import { mountOwnDataExport } from './api/exports.ts'
import { mountGroups } from './api/groups.ts'
import { mountHealth } from './api/health.ts'
import { mountImports } from './api/imports.ts'
import type { Api, ApiContext, ApiEnv } from './api/kit/context.ts'
import { createRefusalNote } from './api/kit/log-throttle.ts'
import { apiHeadersFor, corsHeaders, errorForCaller, problemResponse } from './api/kit/responses.ts'
import { mountMembers } from './api/members.ts'
import { mountOverview } from './api/overview.ts'
import { mountRequests } from './api/requests.ts'
import { mountSessions } from './api/sessions.ts'
import { mountSetup } from './api/setup.ts'
import { mountUsers } from './api/users.ts'
import { mountVerifications } from './api/verifications.ts'
import type { TenantCache } from './domain/companies/served-hosts.ts'
import { createFingerprintVerifier } from './domain/deposits/verifications.ts'
import type { CompanyId, Deps } from './domain/deps.ts'
import { createEventStreams } from './domain/events/event-streams.ts'
import {
  type RateLimitStatus,
  runAndCollectRateLimitStatuses
} from './domain/limits/rate-limits.ts'

const allowedHeaders =
  'authorization, company, content-type, idempotency-key, last-event-id, if-match, if-none-match, ' +
  'tus-resumable, upload-offset, upload-length, upload-metadata, upload-defer-length, upload-concat'
/** The order of the middlewares matters. */
export function createApp(
  deps: Deps,
  tenants: TenantCache,
  { lagMs = () => 0 }: { lagMs?: () => number } = {}
): Api {
  const app: Api = new Hono<ApiEnv>({ strict: true })
  const headers = apiHeadersFor(deps.settings)
  const noteRefusal = createRefusalNote(deps.log)

  app.use(async (c, next) => {
    const started = performance.now()
    c.set('deps', deps)
    c.set('requestId', Buffer.from(deps.random(9)).toString('base64url'))
    c.set('address', c.env?.remoteAddress ?? '')
    // calls that render pages come from within the process and are never refused
    c.set('lagMs', c.env?.remoteAddress === undefined ? () => 0 : lagMs)
    await next()
    deps.log.info(
      {
        request: c.get('requestId'),
        method: c.req.method,
        route: c.get('route') ?? routeOf(c.req.method, c.req.path),
        status: c.res.status,
        ms: Math.round(performance.now() - started),
        company: c.get('tenant')?.company_id,
        user: c.get('person')?.id,
        key: c.get('person')?.key?.id,
        acting: otherCompany(c)
      },
      'api'
    )
  })

  app.use(async (c, next) => {
    const name = c.env?.host ?? new URL(c.req.url).hostname
    const tenant = name.startsWith('api.') ? await tenants.resolve(name.slice(4)) : undefined
    if (!tenant) throw new AppError('unknown_host', 'No company answers on this host')
    c.set('tenant', tenant)
    const cors = corsHeaders(deps, tenant.host, c.req.header('origin'))
    const place = await c.env?.place
    c.set('place', place)
    if (c.req.method === 'OPTIONS') return preflight(cors)
    const { statuses } = await runAndCollectRateLimitStatuses(next).finally(() => place?.end())
    const limits = rateLimitHeaders(statuses)
    for (const [header, value] of Object.entries({ ...limits, ...cors, ...headers })) {
      if (!c.res.headers.has(header)) c.res.headers.set(header, value)
    }
    return undefined
  })

  mountUsers(app)
  mountSessions(app)
  mountAccounts(app)
  mountApiKeys(app)
  mountOwnDataExport(app)
  mountMembers(app)
  mountCategories(app)
  mountCompanies(app)
  mountDataSources(app)
  mountGroups(app)
  mountImports(app)
  mountAudit(app)
  mountOverview(app)
  mountDeposits(app)
  mountDepositBatch(app)
  mountRequests(app, createEventStreams(deps))
  mountVerifications(app, createFingerprintVerifier(deps))
  mountCspReports(app)
  mountSetup(app)
  mountHealth(app)
  mountApiDocumentation(app)
  mountDomains(app) // last, because `/{domain}` matches every path of one segment

  app.notFound(c => {
    const allow = methodsOf(c.req.path)
    const advice = isFileSentElsewhere(c.req) ? `. ${rawFileAdvice}` : ''
    if (allow.length === 0)
      return answerError(c, new AppError('not_found', `No such path${advice}`))
    const response = answerError(
      c,
      new AppError('method_not_allowed', `Use ${allow.join(', ')}${advice}`)
    )
    response.headers.set('allow', allow.join(', '))
    return response
  })

  app.onError((error, c) => {
    const expected = errorForCaller(error)
    if (!noteRefusal(error) && expected.status >= 500) {
      deps.log.error({ request: c.get('requestId'), err: error }, 'api call failed')
    }
    const response = answerError(c, expected)
    // headers that the endpoint set before it failed stay in the response
    for (const [header, value] of c.res.headers) response.headers.set(header, value)
    if (expected.code === 'method_not_allowed') {
      response.headers.set('allow', methodsOf(c.req.path).join(', '))
    }
    const tenant = c.get('tenant')
    const cors = tenant ? corsHeaders(deps, tenant.host, c.req.header('origin')) : {}
    for (const [header, value] of Object.entries({ ...cors, ...headers })) {
      response.headers.set(header, value)
    }
    return response
  })

  return app
}

function otherCompany(c: ApiContext): CompanyId | undefined {
  const acting = c.get('acting')
  return acting === c.get('person')?.company_id ? undefined : acting
}

// draft-ietf-httpapi-ratelimit-headers-11: `ratelimit: "verify_user_minute";r=599;t=60`
function rateLimitHeaders(statuses: RateLimitStatus[]): Record<string, string> {
  if (statuses.length === 0) return {}
  const list = (item: (status: RateLimitStatus) => string) => statuses.map(item).join(', ')
  return {
    'ratelimit-policy': list(({ name, limit, seconds }) => `"${name}";q=${limit};w=${seconds}`),
    ratelimit: list(
      ({ name, remaining, resetSeconds }) => `"${name}";r=${remaining};t=${resetSeconds}`
    )
  }
}

function preflight(cors: Record<string, string>): Response {
  const granted = 'access-control-allow-origin' in cors
  return new Response(null, {
    status: 204,
    headers: granted
      ? {
          ...cors,
          'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
          'access-control-allow-headers': allowedHeaders,
          'access-control-max-age': '7200'
        }
      : cors
  })
}

function answerError(c: ApiContext, error: AppError): Response {
  return problemResponse(error, c.get('requestId') ?? '')
}

const routes = [...Object.values(endpoints), ...Object.values(nonJsonEndpoints)].map(
  ({ method, path }) => ({
    method,
    path,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
  })
)

function methodsOf(pathname: string): string[] {
  const specific = routes.filter(route => route.path !== '/{domain}')
  const found = specific.filter(route => route.pattern.test(pathname))
  return [...new Set(found.map(route => route.method))]
}

// `curl -T` adds the name of the file to a URL that ends with a slash
function isFileSentElsewhere({ method, path }: { method: string; path: string }): boolean {
  return ['PUT', 'POST'].includes(method) && /^\/deposit\/[^/]*$/.test(path)
}

// never the path itself, which may contain ids and names
function routeOf(method: string, pathname: string): string {
  const matching = routes.filter(route => route.pattern.test(pathname))
  const exact = matching.find(route => route.method === method) ?? matching[0]
  return exact?.path ?? '(unknown)'
}
