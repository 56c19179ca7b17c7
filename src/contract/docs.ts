import * as z from 'zod/mini'
import { endpoint, nonJsonEndpoint } from './kit/endpoint.ts'

/**
 * Returns the OpenAPI 3.1 document of all API calls. The document's `servers` contains the URL of
 * the API on the requested host.
 */
export const getOpenApi = endpoint({
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  input: z.strictObject({}),
  output: z.record(z.string(), z.unknown())
})

/** Redirects to the page that documents the API. */
export const redirectToApiDocs = nonJsonEndpoint({
  method: 'GET',
  path: '/docs',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})

export const docCalls = { getOpenApi }

export const nonJsonDocEndpoints = { redirectToApiDocs }
