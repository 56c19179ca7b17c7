import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { Id } from './ids.ts'

export const Company = z.object({ id: z.uuid(), name: z.string() })
export type Company = z.infer<typeof Company>

/** Returns the name of a company. */
export const getCompany = endpoint({
  method: 'GET',
  path: '/company/{id}',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: Company
})

export const companyCalls = { getCompany }
