import { createHash } from 'node:crypto'
import { constants, crc32, gzipSync } from 'node:zlib'
import type { CompressedBody } from './compressed-bodies.ts'

/**
 * Returns a function that appends a tail of less than 64 kB to `head`. `head` is compressed only once
 * and the tail not at all, so that a body costs little although no two callers get the same.
 */
export function createTailedBodies(head: string): (tail: string) => CompressedBody {
  const bytes = Buffer.from(head)
  let parts: ReturnType<typeof compressHead> | undefined
  return tail => {
    parts ??= compressHead(bytes)
    const { checksum, headHash, compressed } = parts
    const end = Buffer.from(tail)
    // RFC 1951, 3.2.4: the last block, not compressed; RFC 1952: the checksum and the length
    const block = Buffer.alloc(5)
    block.writeUInt8(1, 0)
    block.writeUInt16LE(end.length, 1)
    block.writeUInt16LE(0xffff - end.length, 3)
    const trailer = Buffer.alloc(8)
    trailer.writeUInt32LE(crc32(end, checksum), 0)
    trailer.writeUInt32LE(bytes.length + end.length, 4)
    const identity = Buffer.concat([bytes, end])
    const gzip = Buffer.concat([compressed, block, end, trailer])
    const hash = createHash('sha256').update(headHash).update(end).digest('base64url')
    return { etag: `W/"${hash}"`, identity, gzip, size: identity.length + gzip.length }
  }
}

function compressHead(bytes: Buffer) {
  return {
    checksum: crc32(bytes),
    headHash: createHash('sha256').update(bytes).digest(),
    // a flush ends on a whole byte, and further blocks may follow
    compressed: gzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })
  }
}
