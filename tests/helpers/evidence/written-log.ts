import type { LogFiles } from '../../../src/server/domain/deps.ts'
import { bodyOf, noteOf, rootOf, sha256, type TestLog } from './evidence-log.ts'

/**
 * Writes the files of a log by the definitions (C2SP tlog-tiles), so that the tests do not ask the
 * product what is right. Its checkpoint covers `size` leaves, and the files hold all of them.
 */
export async function writeTestLog(
  files: LogFiles,
  log: TestLog,
  size = log.leaves.length
): Promise<void> {
  const id = sha256(log.origin).toString('hex')
  let hashes = log.leaves.map(leaf => sha256('\0', leaf))
  for (let level = 0; hashes.length > 0; level++) {
    for (let index = 0; index * 256 < hashes.length; index++) {
      const own = hashes.slice(index * 256, index * 256 + 256)
      await files.writeTile(id, { level, index }, Buffer.concat(own))
    }
    const whole = Array.from({ length: Math.floor(hashes.length / 256) }, (_, i) =>
      rootOf(hashes.slice(i * 256, i * 256 + 256))
    )
    hashes = whole
  }
  for (let index = 0; index * 256 < log.leaves.length; index++) {
    const own = log.leaves.slice(index * 256, index * 256 + 256)
    await files.writeEntries(id, index, entriesOf(own))
  }
  const before = await files.readCheckpoint(id)
  await files.writeCheckpoint(id, noteOf(bodyOf(log, size), [log.key]), before)
}

/** Each leaf after its length in two bytes. */
export function entriesOf(leaves: string[]): Buffer {
  return Buffer.concat(
    leaves.flatMap(leaf => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(leaf))
      return [length, Buffer.from(leaf)]
    })
  )
}
