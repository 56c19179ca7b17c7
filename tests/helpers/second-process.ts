import { join } from 'node:path'
import { openBlobs } from '../../src/server/adapters/blobs.ts'
import { createServiceSignals } from '../../src/server/adapters/signals.ts'
import type { Deps } from '../../src/server/domain/deps.ts'
import { createClientAddressReader, sendHostError } from '../../src/server/http/hosts.ts'
import { createHttpServer } from '../../src/server/http/listener.ts'
import { createUploadHandler } from '../../src/server/uploads/upload-routes.ts'
import type { TestApp } from './app.ts'
import { listenLocally } from './servers/listen.ts'

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
  const deps: Deps = {
    ...app.deps,
    blobs: openBlobs(join(app.folder, 'documents')),
    // its upload job does not run here, and that of the first process would only check at intervals
    signals: { ...createServiceSignals(notifications), uploads: app.deps.signals.uploads },
    clock
  }
  const server = createHttpServer({
    tenants: app.tenants,
    site: { handle: async (_request, response) => sendHostError(response, 421) },
    app: app.app,
    uploads: createUploadHandler(deps),
    addressOf: createClientAddressReader([]),
    present: deps.db.present,
    log: deps.log
  })
  return {
    deps,
    port: await listenLocally(server),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}
