import { join } from 'node:path'
import { openBlobs } from '../../src/server/adapters/blobs.ts'
import { createServiceSignals } from '../../src/server/adapters/signals.ts'
import { apiHeadersFor } from '../../src/server/api/kit/responses.ts'
import { createApp } from '../../src/server/app.ts'
import { openTenantCache } from '../../src/server/domain/companies/served-hosts.ts'
import type { Deps } from '../../src/server/domain/deps.ts'
import { createCallerWatch } from '../../src/server/domain/sessions/caller-watch.ts'
import { createGate } from '../../src/server/http/gate.ts'
import { createClientAddressReader } from '../../src/server/http/hosts.ts'
import { createHttpServer } from '../../src/server/http/listener.ts'
import { createLogPages } from '../../src/server/http/log-pages.ts'
import { createUploadHandler } from '../../src/server/uploads/upload-routes.ts'
import type { TestApp } from './app.ts'
import { listenLocally } from './servers/listen.ts'
import { noOwners } from './site.ts'

type BesideNotifications = NonNullable<Parameters<typeof createServiceSignals>[0]>

/**
 * Starts a second server on the database and documents of `app`, like another process of the
 * product. It has its own locks, signals and clock.
 */
export async function startSecondProcess(
  app: TestApp,
  {
    aheadSeconds = 0,
    notifications
  }: { aheadSeconds?: number; notifications?: BesideNotifications } = {}
) {
  const clock = () => new Date(app.deps.clock().getTime() + aheadSeconds * 1000)
  const { db, log } = app.deps
  // its upload job does not run here, and that of the first process would only check at intervals
  const signals = { ...createServiceSignals(notifications), uploads: app.deps.signals.uploads }
  const tenants = openTenantCache({ ...app.deps, signals, clock })
  const deps: Deps = {
    ...app.deps,
    blobs: openBlobs(join(app.folder, 'documents')),
    signals,
    callers: createCallerWatch({ db, clock, log, signals }, tenants.companyOf),
    clock
  }
  const api = createApp(deps, tenants)
  const [gate, addressOf] = [createGate(), createClientAddressReader([])]
  const headers = apiHeadersFor(deps.settings)
  const server = createHttpServer({
    api: { tenants, app: api, uploads: createUploadHandler(deps), owners: noOwners },
    logs: createLogPages({ deps, tenants, gate, addressOf, headers }),
    addressOf,
    gate,
    log: deps.log
  })
  return {
    deps,
    app: api,
    port: await listenLocally(server),
    async [Symbol.asyncDispose]() {
      tenants[Symbol.dispose]()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}
