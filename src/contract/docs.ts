import * as z from 'zod/mini'
import { endpoint, stream } from './endpoint.ts'

/** All calls as OpenAPI 3.1, written for the host that was asked. */
export const getOpenApi = endpoint({
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  input: z.strictObject({}),
  output: z.record(z.string(), z.unknown())
})

/** Leads to the page of the site that explains the API to people. */
export const getDocs = stream({
  method: 'GET',
  path: '/docs',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})
