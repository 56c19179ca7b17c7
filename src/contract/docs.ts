import * as z from 'zod/mini'
import { nonJsonEndpoint } from './kit/endpoint.ts'

/**
 * Returns the OpenAPI 3.1 document of all API calls. The document's `servers` contains the URL of
 * the API on the requested host. The document stays the same until the service is updated or the
 * company renamed, and a request with its `ETag` is then answered with 304.
 */
export const getOpenApi = nonJsonEndpoint({
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  input: z.strictObject({}),
  message: z.record(z.string(), z.unknown())
})

/** Redirects to the page that documents the API. */
export const redirectToApiDocs = nonJsonEndpoint({
  method: 'GET',
  path: '/docs',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})

export const nonJsonDocEndpoints = { getOpenApi, redirectToApiDocs }
