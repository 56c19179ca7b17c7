import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'

/** Returns 200 while the server process runs. Does not check the database. */
export const getHealth = endpoint({
  method: 'GET',
  path: '/healthz',
  access: 'public',
  input: z.strictObject({}),
  output: z.object({ status: z.literal('ok') })
})

export const healthCalls = { getHealth }
