import { endpoints, nonJsonEndpoints } from '../index.ts'
import { DisabledReason } from '../kit/disabled.ts'
import {
  type Endpoint,
  hasJsonBody,
  isCompanyAdministrationCall,
  type NonJsonEndpoint,
  pathParameters
} from '../kit/endpoint.ts'
import { commonErrorCodes, type ErrorCode, errorCodes } from '../kit/errors.ts'
import { maxCategoriesInError } from '../kit/limits.ts'
import { inputSchema, type JsonSchema, outputSchema } from './json-schema.ts'
import { exampleOf } from './schema-examples.ts'

export type ApiCall = Endpoint | NonJsonEndpoint

export const apiCalls: Record<string, ApiCall> = { ...endpoints, ...nonJsonEndpoints }

interface OpenApiOptions {
  title: string
  // the whole API if `name` is `api`
  sentenceOf: (name: string) => string
}

/** What `NonJsonEndpoint` does not say. */
export interface NonJsonHttpDetails {
  statuses: number[]
  requestType?: string
  responseType?: string
  /** Of an answer that is not described further. */
  otherResponseType?: string
  requiredHeaders?: string[]
  optionalHeaders?: string[]
  responseHeaders?: string[]
}

export const nonJsonHttpDetails: Record<string, NonJsonHttpDetails> = {
  getDepositContent: {
    statuses: [200, 206],
    responseType: 'application/octet-stream',
    optionalHeaders: ['Range'],
    responseHeaders: ['Content-Disposition', 'Content-Range', 'Repr-Digest']
  },
  getReceipt: {
    statuses: [200],
    responseType: 'application/vnd.vidimus.receipt+json',
    otherResponseType: 'text/plain',
    responseHeaders: ['Content-Disposition']
  },
  createDepositBatch: {
    statuses: [200],
    requestType: 'multipart/form-data',
    responseType: 'application/json'
  },
  putDeposit: {
    statuses: [201],
    requestType: 'application/octet-stream',
    responseType: 'application/json',
    optionalHeaders: ['Idempotency-Key'],
    responseHeaders: ['Idempotent-Replayed', 'Link']
  },
  headUpload: {
    statuses: [200],
    requiredHeaders: ['Tus-Resumable'],
    responseHeaders: ['Tus-Resumable', 'Upload-Offset', 'Upload-Length']
  },
  patchUpload: {
    statuses: [204],
    requestType: 'application/offset+octet-stream',
    requiredHeaders: ['Tus-Resumable', 'Upload-Offset'],
    responseHeaders: ['Tus-Resumable', 'Upload-Offset']
  },
  deleteUpload: {
    statuses: [204],
    requiredHeaders: ['Tus-Resumable'],
    responseHeaders: ['Tus-Resumable']
  },
  exportRequests: {
    statuses: [200],
    responseType: 'text/csv',
    responseHeaders: ['Content-Disposition']
  },
  exportUsers: {
    statuses: [200],
    responseType: 'text/csv',
    responseHeaders: ['Content-Disposition']
  },
  exportAuditEntries: {
    statuses: [200],
    responseType: 'text/csv',
    responseHeaders: ['Content-Disposition']
  },
  putRegisterImport: {
    statuses: [202],
    requestType: 'application/octet-stream',
    responseType: 'application/json',
    requiredHeaders: ['Idempotency-Key'],
    responseHeaders: ['Idempotent-Replayed']
  },
  exportRefusedRows: {
    statuses: [200],
    responseType: 'text/csv',
    responseHeaders: ['Content-Disposition']
  },
  streamRequests: {
    statuses: [200],
    responseType: 'text/event-stream',
    optionalHeaders: ['Last-Event-ID']
  },
  receiveCspReports: { statuses: [204], requestType: 'application/reports+json' },
  getOpenApi: {
    statuses: [200],
    responseType: 'application/json',
    optionalHeaders: ['If-None-Match'],
    responseHeaders: ['ETag']
  },
  redirectToApiDocs: { statuses: [302], responseHeaders: ['Location'] }
}

// besides `Endpoint.status`
const otherStatuses: Record<string, number[]> = {
  // a file that has been deposited before
  createDeposit: [200]
}

export function successStatusesOf(name: string, route: ApiCall): number[] {
  if (route.kind === 'non-json') return nonJsonHttpDetails[name]?.statuses ?? [200]
  return [route.status, ...(otherStatuses[name] ?? [])]
}

// never sent by the server
const ofBrowser: ErrorCode[] = [
  'offline',
  'unexpected_answer',
  'file_unreadable',
  'cookies_blocked'
]

const allCodes = Object.keys(errorCodes) as ErrorCode[] // as: the keys of a constant

export const errorCodesFromServer = allCodes.filter(code => !ofBrowser.includes(code))

export function errorCodesOf(route: ApiCall): ErrorCode[] {
  const ofBody = ['body_too_large', 'unsupported_media_type']
  const common = commonErrorCodes.filter(
    code => code !== 'method_not_allowed' && (hasBody(route) || !ofBody.includes(code))
  )
  return [...route.errors, ...common, 'unknown_host']
}

export function createOpenApiDocument({
  title,
  sentenceOf
}: OpenApiOptions): Record<string, unknown> {
  const paths: Record<string, Record<string, object>> = {}
  const schemas: Record<string, JsonSchema | object> = { Problem: problemSchema }
  for (const [name, route] of Object.entries(apiCalls)) {
    const answer = responseSchemaOf(route)
    Object.assign(schemas, answer.parts)
    const methods = paths[route.path] ?? {}
    methods[route.method.toLowerCase()] = operation(name, route, answer, sentenceOf(name))
    paths[route.path] = methods
  }
  return {
    openapi: '3.1.1',
    info: { title, version: '1', description: sentenceOf('api') },
    // the host that serves the document, so that all hosts serve the same one
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The token of a signed-in person'
        },
        key: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'vdm_…',
          description: 'An API key'
        }
      }
    }
  }
}

function inputPositions(route: ApiCall): { path: string[]; query: string[]; body: string[] } {
  const { properties = {} } = inputSchema(route.input)
  const path = pathParameters(route.path)
  const others = Object.keys(properties).filter(name => !path.includes(name))
  const isJson = route.kind === 'endpoint' && hasBody(route)
  return { path, query: isJson ? [] : others, body: isJson ? others : [] }
}

function hasBody(route: ApiCall): boolean {
  if (route.kind === 'endpoint') return hasJsonBody(route)
  return ['POST', 'PUT', 'PATCH'].includes(route.method)
}

export function responseSchemaOf(
  route: ApiCall
): ReturnType<typeof outputSchema> | { schema: undefined; parts: Record<string, never> } {
  const answer = route.kind === 'endpoint' ? route.output : route.message
  if (answer._zod.def.type === 'void') return { schema: undefined, parts: {} }
  return outputSchema(answer)
}

function operation(
  name: string,
  route: ApiCall,
  answer: ReturnType<typeof responseSchemaOf>,
  summary: string
) {
  const isPublic = route.access === 'public'
  const body = requestBody(name, route)
  return {
    operationId: name,
    summary,
    security: [
      ...(isPublic ? [{}] : []),
      { bearer: [] },
      // the roles of OpenAPI 3.1: the key needs one of the scopes
      ...(route.scopes ? route.scopes.map(scope => ({ key: [scope] })) : [])
    ],
    parameters: parameters(name, route),
    ...(body ? { requestBody: body } : {}),
    responses: { ...success(name, route, answer), ...refusals(route) }
  }
}

function parameters(name: string, route: ApiCall): object[] {
  const { properties = {}, required = [] } = inputSchema(route.input)
  const { path, query } = inputPositions(route)
  const found: object[] = [
    ...path.map(name => ({ name, in: 'path', required: true, schema: properties[name] })),
    ...query.map(name => ({
      name,
      in: 'query',
      required: required.includes(name),
      schema: properties[name]
    }))
  ]
  if (route.kind === 'endpoint' && route.idempotency) {
    found.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: route.idempotency === 'required',
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' }
    })
  }
  if (isCompanyAdministrationCall(route)) {
    found.push({ name: 'Company', in: 'header', schema: { type: 'string', format: 'uuid' } })
  }
  const precondition = preconditionOf(route)
  if (precondition !== undefined) {
    const schema = { type: 'string', pattern: '^"\\d{1,15}"$' }
    found.push({ name: precondition, in: 'header', schema })
  }
  for (const header of nonJsonHttpDetails[name]?.requiredHeaders ?? []) {
    found.push({ name: header, in: 'header', required: true, schema: { type: 'string' } })
  }
  for (const header of nonJsonHttpDetails[name]?.optionalHeaders ?? []) {
    found.push({ name: header, in: 'header', schema: { type: 'string' } })
  }
  return found
}

function preconditionOf(route: ApiCall): 'If-Match' | 'If-None-Match' | undefined {
  if (route.kind === 'non-json' || !route.versioned) return undefined
  if (route.errors.includes('changed_meanwhile')) return 'If-Match'
  return route.method === 'GET' && route.versioned === 'content' ? 'If-None-Match' : undefined
}

function requestBody(name: string, route: ApiCall): object | undefined {
  const type = nonJsonHttpDetails[name]?.requestType
  if (type) return { required: true, content: { [type]: formOf(route) } }
  const { body } = inputPositions(route)
  if (route.kind === 'non-json' || !hasBody(route)) return undefined
  const { properties = {}, required = [], ...rest } = inputSchema(route.input)
  const needed = required.filter(name => body.includes(name))
  const schema = {
    ...rest,
    properties: Object.fromEntries(body.map(name => [name, properties[name]])),
    ...(needed.length > 0 ? { required: needed } : {})
  }
  return { required: needed.length > 0, content: { 'application/json': { schema } } }
}

function formOf(route: ApiCall): object {
  if (route.kind !== 'non-json' || !route.form) return {}
  const items = { contentMediaType: 'application/json', contentSchema: inputSchema(route.form) }
  const file = { type: 'array', items: { type: 'string', format: 'binary' } }
  const properties = { items: { type: 'string', ...items }, file }
  return {
    schema: { type: 'object', required: ['items', 'file'], properties },
    encoding: { items: { contentType: 'application/json' } }
  }
}

function success(name: string, route: ApiCall, told: ReturnType<typeof responseSchemaOf>): object {
  const facts = nonJsonHttpDetails[name]
  const statuses = successStatusesOf(name, route)
  const headers = [...(facts?.responseHeaders ?? [])]
  if (route.kind === 'endpoint' && route.idempotency) headers.push('Idempotent-Replayed')
  if (route.kind === 'endpoint' && route.paged) headers.push('Link')
  if (route.kind === 'endpoint' && route.versioned && route.status !== 204) headers.push('ETag')
  const type = route.kind === 'endpoint' ? 'application/json' : facts?.responseType
  const isEmpty = type === undefined || statuses[0] === 204
  const other = facts?.otherResponseType
  const content = isEmpty
    ? {}
    : {
        content: {
          [type]: media(type, told),
          ...(other === undefined ? {} : { [other]: { schema: { type: 'string' } } })
        }
      }
  const answer = { description: 'Done', ...withHeaders(headers), ...content }
  const unchanged = preconditionOf(route) === 'If-None-Match' && {
    304: { description: 'Not changed', ...withHeaders(['ETag']) }
  }
  return { ...Object.fromEntries(statuses.map(status => [status, answer])), ...unchanged }
}

function media(type: string, { schema, parts }: ReturnType<typeof responseSchemaOf>): object {
  if (!type.startsWith('text/')) {
    return schema ? { schema, example: exampleOf(schema, parts) } : {}
  }
  // the `data` of one event; OpenAPI 3.1 cannot describe a sequence of events
  return { schema: { type: 'string' }, ...(schema ? { 'x-event-data': schema } : {}) }
}

function refusals(route: ApiCall): Record<string, object> {
  const byStatus = Map.groupBy(errorCodesOf(route), code => errorCodes[code])
  const found = [...byStatus].map(([status, codes]) => {
    const headers = status === 401 ? ['WWW-Authenticate'] : []
    const isForLater = status === 429 || status === 503 || codes.some(isWait)
    if (isForLater) headers.push('Retry-After')
    const schema = {
      allOf: [{ $ref: '#/components/schemas/Problem' }],
      properties: { status: { const: status }, code: { enum: codes } }
    }
    const content = { 'application/problem+json': { schema } }
    const answer = {
      description: codes.join(', '),
      ...withHeaders(headers),
      ...(route.method === 'HEAD' ? {} : { content })
    }
    return [String(status), answer] as const
  })
  return Object.fromEntries(found)
}

/** Whether the same call can succeed soon. */
function isWait(code: ErrorCode): boolean {
  return ['idempotency_in_flight', 'receipt_pending', 'upload_busy'].includes(code)
}

function withHeaders(names: string[]): object {
  if (names.length === 0) return {}
  const entries = names.map(name => [name, { schema: { type: 'string' } }])
  return { headers: Object.fromEntries(entries) }
}

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: errorCodesFromServer },
    instance: { type: 'string' },
    fields: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['rule'],
        properties: {
          rule: { type: 'string' },
          limit: { type: ['number', 'string'] },
          detail: { type: 'string' }
        }
      }
    },
    fields_omitted: { type: 'integer' },
    disabled: {
      type: 'object',
      required: ['scope', 'reason', 'since'],
      properties: {
        scope: { enum: ['user', 'company', 'domain'] },
        reason: { enum: [...DisabledReason.options, 'other'] },
        since: { type: 'string' }
      }
    },
    categories: {
      type: 'array',
      maxItems: maxCategoriesInError,
      items: {
        type: 'object',
        required: ['id', 'names'],
        properties: {
          id: { type: 'string', format: 'uuid' },
          names: {
            type: 'object',
            required: ['en', 'fr'],
            properties: { en: { type: 'string' }, fr: { type: 'string' } }
          }
        }
      }
    },
    uses: { type: 'object', additionalProperties: { type: 'integer' } },
    used: { type: 'number' },
    limit: { type: 'number' },
    resets_at: { type: ['string', 'null'] }
  }
}
