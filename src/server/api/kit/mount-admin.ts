import type * as z from 'zod/mini'
import type { Endpoint } from '../../../contract/kit/endpoint.ts'
import type { CompanyId, Deps } from '../../domain/deps.ts'
import type { Page } from '../../domain/lists.ts'
import type { AuthenticatedCaller } from '../../domain/sessions/sessions.ts'
import { administeredCompanyId, callerAndAdministeredCompany } from './administered-company.ts'
import type { Api } from './context.ts'
import { mountEndpoint, mountList } from './mount.ts'

interface AdminCaller {
  company_id: CompanyId
  by: AuthenticatedCaller
  /** Undefined if the call accepts any version. */
  version: readonly number[] | undefined
}

export function mountAdminEndpoint<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
  app: Api,
  endpoint: Endpoint<Input, Output>,
  run: (deps: Deps, input: z.output<Input> & AdminCaller) => Promise<z.input<Output>>
): void {
  mountEndpoint(app, endpoint, (input, c) => {
    const caller = { ...callerAndAdministeredCompany(c), version: c.get('expectedVersion') }
    return run(c.get('deps'), Object.assign({}, input, caller))
  })
}

export function mountAdminList<
  Input extends z.ZodMiniType<{ id: string }>,
  Item extends z.ZodMiniType
>(
  app: Api,
  endpoint: Endpoint<Input, z.ZodMiniArray<Item>>,
  run: (
    deps: Deps,
    input: Omit<z.output<Input>, 'id'> & { company_id: CompanyId }
  ) => Promise<Page<z.input<Item>>>
): void {
  mountList(app, endpoint, (input, c) => {
    const { id: _, ...page } = input
    return run(c.get('deps'), { ...page, company_id: administeredCompanyId(c) })
  })
}
