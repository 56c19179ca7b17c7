// Runs the published vectors of Merkle proofs: npm run test:vectors -- <folder>
// The folder is `testdata` of https://github.com/transparency-dev/merkle, or has a copy as one file.
import { isJudgedRight, readMerkleVectors } from '../tests/helpers/evidence/merkle-vectors.ts'

const folder = process.argv[2] ?? process.env.MERKLE_VECTORS
if (!folder) {
  console.error('Name the folder of the vectors: npm run test:vectors -- <folder>')
  process.exit(2)
}
const vectors = readMerkleVectors(folder)
const wrong = vectors.filter(vector => !isJudgedRight(vector))
for (const { desc, file } of wrong) console.error(`judged wrong: ${file ?? desc}`)
console.log(`${vectors.length - wrong.length} of ${vectors.length} vectors are judged right`)
if (wrong.length > 0 || vectors.length === 0) process.exitCode = 1
