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
import {
  listUserImportRows,
  setUserImportRowsSkipped,
  storeUserImportRows
} from '../domain/accounts/user-import-rows.ts'
import * as imports from '../domain/imports/imports.ts'
import { administeredCompanyAsMailSender } from './kit/administered-company.ts'
import { type Api, authenticatedCaller } from './kit/context.ts'
import { mountIdempotent } from './kit/mount.ts'
import { mountAdminEndpoint, mountAdminList } from './kit/mount-admin.ts'

export function mountImports(app: Api): void {
  mountAdminList(app, listImports, imports.listImports)
  mountAdminEndpoint(app, getImport, imports.getImport)
  mountAdminEndpoint(app, storeImportRows, storeUserImportRows)
  mountAdminEndpoint(app, listImportRows, listUserImportRows)
  mountAdminEndpoint(app, checkImport, imports.requestImportCheck)
  mountAdminEndpoint(app, skipImportRows, setUserImportRowsSkipped)
  mountAdminEndpoint(app, runImport, imports.requestImportRun)
  mountAdminEndpoint(app, undoImport, imports.requestImportUndo)
  mountAdminEndpoint(app, deleteImport, imports.deleteImport)

  mountIdempotent(app, createImport, async (input, c, idempotencyKey) =>
    imports.createImport(c.get('deps'), {
      sender: await administeredCompanyAsMailSender(c, input.send_invitations),
      by: authenticatedCaller(c),
      ...input,
      idempotencyKey
    })
  )
}
