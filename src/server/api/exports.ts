import { exportOwnData } from '../../contract/exports.ts'
import * as users from '../domain/accounts/users.ts'
import { type Api, authenticatedCaller, inLongRead } from './kit/context.ts'
import { mountEndpoint } from './kit/mount.ts'

export function mountOwnDataExport(app: Api): void {
  mountEndpoint(app, exportOwnData, ({ cursor }, c) =>
    inLongRead(c, () =>
      users.exportOwnData(c.get('deps'), {
        tenant: c.get('tenant'),
        person: authenticatedCaller(c),
        cursor
      })
    )
  )
}
