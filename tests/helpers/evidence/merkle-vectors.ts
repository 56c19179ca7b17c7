import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyConsistency, verifyInclusion } from '../../../src/core/evidence/merkle-proofs.ts'

interface Vector {
  desc: string
  wantErr: boolean
  proof: string[] | null
  [member: string]: unknown
}

/**
 * Reads the proofs in all JSON files below a folder. A file is one proof, as published by
 * transparency-dev/merkle in `testdata`, or has the lists `inclusion` and `consistency` of such.
 */
export function readMerkleVectors(folder: string): Vector[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.json'))
    .flatMap(name => {
      const text = readFileSync(join(folder, name), 'utf8')
      // some indexes and sizes are beyond 2^53, where JSON.parse rounds
      const quoted = text.replace(/("(?:leafIdx|treeSize|size1|size2)":\s*)(\d+)/g, '$1"$2"')
      const file = JSON.parse(quoted)
      return 'desc' in file ? [file] : [...file.inclusion, ...file.consistency]
    })
}

/** Whether the proof is judged as the vector says. */
export function isJudgedRight(vector: Vector): boolean {
  const numberOf = (name: string) => BigInt(String(vector[name]))
  const steps = (vector.proof ?? []).map(bytesOf)
  const holds =
    'leafIdx' in vector
      ? verifyInclusion({
          index: numberOf('leafIdx'),
          size: numberOf('treeSize'),
          leafHash: bytesOf(vector['leafHash']),
          root: bytesOf(vector['root']),
          steps
        })
      : verifyConsistency({
          size1: numberOf('size1'),
          size2: numberOf('size2'),
          root1: bytesOf(vector['root1']),
          root2: bytesOf(vector['root2']),
          steps
        })
  return holds !== vector.wantErr
}

function bytesOf(text: unknown): Uint8Array {
  return Buffer.from(typeof text === 'string' ? text : '', 'base64')
}
