import * as z from 'zod/mini'
import { nonJsonEndpoint } from './kit/endpoint.ts'

/** Returns this description for programs. */
export const getOpenApi = nonJsonEndpoint({
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  input: z.strictObject({}),
  message: z.record(z.string(), z.unknown())
})

/** Redirects to this page. */
export const redirectToApiDocs = nonJsonEndpoint({
  method: 'GET',
  path: '/docs',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})

export const nonJsonDocEndpoints = { getOpenApi, redirectToApiDocs }
