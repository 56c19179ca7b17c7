import { randomBytes } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDiskNearlyFull } from './domain/companies/attention.ts'
import { listCompanyIds } from './domain/companies/companies.ts'
import { countHeldUploads } from './domain/deposits/held-uploads.ts'
import type { Deps } from './domain/deps.ts'
import { listLogsOf } from './domain/evidence/logs.ts'
import { isFrozen } from './domain/evidence/seals.ts'
import { pingDatabase } from './domain/installation/installation.ts'
import type { ConnectionRoomCheck } from './http/connections.ts'

/** Tells for each part whether it works, and counts held deposits, frozen logs and faulty ones. */
export async function checkReadiness(
  deps: Deps,
  connections: ConnectionRoomCheck
): Promise<Record<string, boolean | number | null>> {
  const tried = async (check: string, work: () => Promise<unknown>) => {
    try {
      await work()
      return true
    } catch (error) {
      deps.log.warn({ check, err: error }, 'readiness check failed')
      return false
    }
  }
  const { held, frozen, faulty } = await countTrouble(deps)
  return {
    connections: connections.hasRoom(),
    database: await tried('database', () => pingDatabase(deps)),
    documents: await tried('documents', () => writeAndRemove(deps.blobs.stagingDirectory)),
    disk: await tried('disk', () => requireSpace(deps)),
    keys: await tried('keys', () => signAndVerify(deps)),
    held,
    frozen_logs: frozen,
    faulty_logs: faulty
  }
}

// null when the database fails; does not change the status of `/readyz`
async function countTrouble(
  deps: Deps
): Promise<Record<'held' | 'frozen' | 'faulty', number | null>> {
  try {
    let [held, frozen, faulty] = [0, 0, 0]
    for (const company of await listCompanyIds(deps)) {
      held += await countHeldUploads(deps, company)
      for (const { state, fault } of await listLogsOf(deps, company)) {
        if (isFrozen(state)) frozen++
        if (fault !== null) faulty++
      }
    }
    return { held, frozen, faulty }
  } catch {
    return { held: null, frozen: null, faulty: null } // the check of the database reports the error
  }
}

async function writeAndRemove(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `.probe-${randomBytes(6).toString('hex')}`)
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile('probe')
    await file.sync()
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

async function requireSpace(deps: Deps): Promise<void> {
  if (isDiskNearlyFull(await deps.blobs.space()))
    throw new Error('the disk of the documents is nearly full')
}

async function signAndVerify(deps: Deps): Promise<void> {
  const { kid, sign } = deps.keys.signingKey()
  const text = 'probe'
  const verifying = deps.keys.verifyingKey(kid)
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const verify = (key: CryptoKey) =>
    crypto.subtle.verify(algorithm, key, new Uint8Array(sign(text)), Buffer.from(text))
  if (!verifying || !(await verify(verifying))) {
    throw new Error('the token key does not verify what it signs')
  }
}
