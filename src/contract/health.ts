import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'

/** Tells whether the service is running. */
export const getHealth = endpoint({
  method: 'GET',
  path: '/healthz',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({ status: z.literal('ok') })
})

export const healthCalls = { getHealth }
