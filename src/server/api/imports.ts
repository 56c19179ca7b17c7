import {
  checkImport,
  createImport,
  deleteImport,
  getImport,
  listImportRows,
  listImports,
  runImport,
  skipImportRows,
  storeImportRows,
  undoImport
} from '../../contract/imports.ts'
import { listUserRows, skipUserRows, storeUserRows } from '../domain/accounts/user-import-rows.ts'
import * as imports from '../domain/imports/imports.ts'
import { administeredCompany, callerAndCompany, mailSenderOf } from './kit/administered-company.ts'
import { parseIdempotencyKey } from './kit/admission.ts'
import { type Api, signedInPerson } from './kit/context.ts'
import { mountEndpoint, mountList } from './kit/mount.ts'

export function mountImports(app: Api): void {
  mountList(app, listImports, ({ id: _, ...page }, c) =>
    imports.listImports(c.get('deps'), { company_id: administeredCompany(c), ...page })
  )

  mountEndpoint(app, createImport, async (input, c) => {
    const { body, replayed } = await imports.createImport(c.get('deps'), {
      sender: await mailSenderOf(c, input.send_invitations),
      by: signedInPerson(c),
      ...input,
      idempotencyKey: parseIdempotencyKey(c.req.header('idempotency-key'))
    })
    if (replayed) c.header('idempotent-replayed', 'true')
    return body
  })

  mountEndpoint(app, getImport, ({ id }, c) =>
    imports.getImport(c.get('deps'), { company_id: administeredCompany(c), id })
  )

  mountEndpoint(app, storeImportRows, (input, c) =>
    storeUserRows(c.get('deps'), { company_id: administeredCompany(c), ...input })
  )

  mountEndpoint(app, listImportRows, (input, c) =>
    listUserRows(c.get('deps'), { company_id: administeredCompany(c), ...input })
  )

  mountEndpoint(app, checkImport, ({ id }, c) =>
    imports.requestCheck(c.get('deps'), { ...callerAndCompany(c), id })
  )

  mountEndpoint(app, skipImportRows, (input, c) =>
    skipUserRows(c.get('deps'), { company_id: administeredCompany(c), ...input })
  )

  mountEndpoint(app, runImport, (input, c) =>
    imports.requestRun(c.get('deps'), { ...callerAndCompany(c), ...input })
  )

  mountEndpoint(app, undoImport, ({ id }, c) =>
    imports.requestUndo(c.get('deps'), { ...callerAndCompany(c), id })
  )

  mountEndpoint(app, deleteImport, ({ id }, c) =>
    imports.deleteImport(c.get('deps'), { ...callerAndCompany(c), id })
  )
}
