import type { IncomingMessage, ServerResponse } from 'node:http'
import { patchUpload, putDeposit } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { putRegisterImport } from '../../contract/register-imports.ts'
import { namedCompany } from '../api/kit/administered-company.ts'
import { admitCaller, bearerToken, permissionsNeededFor } from '../api/kit/admission.ts'
import type { CallPlace } from '../api/kit/context.ts'
import { createRefusalNote } from '../api/kit/log-throttle.ts'
import { apiHeadersFor, corsHeaders, errorForCaller, sendProblem } from '../api/kit/responses.ts'
import type { Deps, Tenant } from '../domain/deps.ts'
import { createUploadSlots } from './concurrent-uploads.ts'
import { isDirectUpload, serveDirectUpload } from './direct-put.ts'
import { isRegisterUpload, serveRegisterUpload } from './register-put.ts'
import { createTusServer, tusRoutes, tusVersion } from './tus-uploads.ts'

const directRoutes = [
  { is: isDirectUpload, route: putDeposit, serve: serveDirectUpload },
  { is: isRegisterUpload, route: putRegisterImport, serve: serveRegisterUpload }
]

interface Caller {
  tenant: Tenant
  address: string
  place: Promise<CallPlace>
}

export interface UploadHandler {
  handle(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void>
}

/**
 * `PUT /deposit`, `PUT …/import` of a register and the resumable uploads. Uses Node's request and
 * response instead of Hono's, because only Node's show when a client disconnects, and no file is in
 * memory as a whole.
 */
export function createUploadHandler(deps: Deps): UploadHandler {
  const takeSlot = createUploadSlots()
  const serveTus = createTusServer(deps, takeSlot)
  const noteRefusal = createRefusalNote(deps.log)

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    { tenant, address, ...waiting }: Caller
  ): Promise<void> {
    const place = await waiting.place
    const { host } = tenant
    const direct = directRoutes.find(({ is }) => is(request))
    const tus = tusRoutes.find(({ method }) => method === request.method)
    const route = direct?.route ?? tus
    if (!route) {
      response.setHeader('allow', tusRoutes.map(({ method }) => method).join(', '))
      throw new AppError('method_not_allowed', 'POST /deposit creates uploads')
    }
    const token = bearerToken(request.headers.authorization)
    const person = await admitCaller(deps, tenant, route, token, { address })
    if (!response.closed) {
      const permissions = permissionsNeededFor(route, person)
      const stop = deps.callers.watch({ person, host, permissions }, () => response.destroy())
      response.once('close', stop)
    }
    // an operator may bring the file of a register of another company
    const named = route === putDeposit ? undefined : request.headers['company']?.toString()
    const company_id = await namedCompany(deps, named, person)
    const call = { request, response, company_id, person, place }
    if (tus) return serveTus({ ...call, route: tus })
    return direct?.serve(deps, takeSlot, call)
  }

  return {
    async handle(request, response, caller) {
      const { tenant } = caller
      const cors = corsHeaders(deps, tenant.host, request.headers.origin)
      for (const [name, value] of Object.entries({ ...cors, ...apiHeadersFor(deps.settings) })) {
        response.setHeader(name, value)
      }
      const direct = directRoutes.find(({ is }) => is(request))
      const { path } = direct?.route ?? patchUpload
      const { method } = request
      const id = Buffer.from(deps.random(9)).toString('base64url')
      const started = performance.now()
      // `close` also fires for broken connections
      response.once('close', () => {
        const ms = Math.round(performance.now() - started)
        const { statusCode: status, writableFinished: whole } = response
        const facts = { request: id, method, route: path, status, whole, ms }
        deps.log.info({ ...facts, company: tenant.company_id }, 'upload')
      })
      try {
        await serve(request, response, caller)
      } catch (error) {
        const expected = errorForCaller(error)
        if (!noteRefusal(error) && expected.status >= 500) {
          deps.log.error({ request: id, err: error }, 'upload failed')
        }
        if (!direct) response.setHeader('tus-resumable', tusVersion)
        await sendProblem(response, expected, id)
      }
    }
  }
}
