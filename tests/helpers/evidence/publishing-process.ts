import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openInstallationKeys } from '../../../src/server/adapters/keys.ts'
import { openLogFiles } from '../../../src/server/adapters/log-files.ts'
import { createServiceSignals } from '../../../src/server/adapters/signals.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import { toCompanyId } from '../../../src/server/db/scope.ts'
import type { InstallationSettings } from '../../../src/server/domain/deps.ts'
import { publishLog } from '../../../src/server/domain/evidence/log-publishing.ts'
import type { TestApp } from '../app.ts'

interface Setup {
  socketDir: string
  database: string
  folder: string
  settings: InstallationSettings
  companies: string[]
}

const firstMessage = 'publish'

/**
 * Starts a process that publishes the logs of two companies without a pause, once it is told to. It
 * can be killed at any moment.
 */
export async function startPublishingProcess(app: TestApp) {
  const { socketDir, name: database } = app.database
  const companies = Object.values(app.companies)
  const setup: Setup = {
    socketDir,
    database,
    folder: app.folder,
    settings: app.deps.settings,
    companies
  }
  const child: ChildProcess = fork(import.meta.filename, [JSON.stringify(setup)])
  const ended = once(child, 'exit')
  await once(child, 'message')
  return {
    publish: () => void child.send(firstMessage),
    /** Returns the signal, or the exit code if it had ended by itself. */
    async kill(): Promise<NodeJS.Signals | number> {
      child.kill('SIGKILL')
      const [code, signal] = await ended
      return signal ?? code
    }
  }
}

async function publishForEver({ socketDir, database, folder, settings, companies }: Setup) {
  const clock = () => new Date()
  const directory = join(folder, 'keys')
  const fail = (facts: object, text: string) => {
    console.error(text, facts)
    process.exit(1)
  }
  const deps = {
    db: await openDatabase({ socketDir, database }),
    keys: await openInstallationKeys({ directory, recordedRootSecretId: undefined, clock }),
    random: (length: number) => new Uint8Array(randomBytes(length)),
    logFiles: openLogFiles(join(folder, 'log')),
    signals: createServiceSignals(),
    log: { info() {}, warn: fail, error: fail },
    clock,
    settings
  }
  const told = once(process, 'message')
  process.send?.('ready')
  await told
  process.once('disconnect', () => process.exit())
  for (;;) {
    for (const company of companies) await publishLog(deps, toCompanyId(company))
    await sleep(1)
  }
}

if (process.argv[1] === import.meta.filename)
  // as: written by startPublishingProcess
  await publishForEver(JSON.parse(process.argv[2] ?? '') as Setup)
