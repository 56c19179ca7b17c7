// Judges receipts with `vidimus verify` and with docs/verify_receipt.py, which was written from the
// page alone, and compares the answers: npm run test:verifier -- <seed>
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { UnusableInput, verifyFile } from '../bin/verify-command.ts'
import { brokenCases, goodCases } from '../tests/helpers/evidence/verifier-cases.ts'

const seed = Number(process.argv[2] ?? 1)
const [good, broken] = [goodCases(seed), brokenCases(seed)]
const folder = await mkdtemp(join(tmpdir(), 'vidimus-verifier-'))
const answers = new Map()
let wrong = 0

const caller = `
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
import verify_receipt
answers = []
for arguments in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = verify_receipt.main(arguments)
    answers.append([status, out.getvalue()])
print(json.dumps(answers))
`

try {
  const cases = await Promise.all([...good, ...broken].map(writeFiles))
  const python = judgeInPython(cases)
  for (const [index, each] of cases.entries())
    compare(each, await judgeHere(each.options), (await python)[index])
} finally {
  await rm(folder, { recursive: true, force: true })
}
for (const [answer, count] of [...answers].sort()) console.log(`${count}`.padStart(5), answer)
console.log(
  `${good.length} receipts that hold and ${broken.length} that do not, seed ${seed}: ${wrong} judged wrong or differently`
)
if (wrong > 0) process.exitCode = 1

async function writeFiles({ name, file, receipt, key, policy, answer }, index) {
  const options = key === undefined ? {} : { key }
  for (const [kind, bytes] of Object.entries({ file, receipt, policy })) {
    if (bytes === undefined) continue
    options[kind] = join(folder, `${index}.${kind}`)
    await writeFile(options[kind], bytes)
  }
  return { name, options, answer }
}

function compare({ name, answer }, ours, second) {
  const given = [ours.verdict, ours.reason].filter(Boolean).join(' ')
  answers.set(given, (answers.get(given) ?? 0) + 1)
  const isRight = answer === undefined ? ![0, 11, 13].includes(ours.status) : given === answer
  if (isRight && isDeepStrictEqual(ours, second)) return
  wrong++
  console.error(`${name}: ${answer ?? 'no success'} is expected`)
  console.error(`  TypeScript: ${JSON.stringify(ours)}\n  Python:     ${JSON.stringify(second)}`)
}

async function judgeHere(options) {
  try {
    const { status, facts } = await verifyFile(options)
    return comparable(status, facts)
  } catch (error) {
    if (error instanceof UnusableInput) return { status: 64, verdict: 'unusable' }
    throw error
  }
}

// one process for all, because each start costs more than the check
async function judgeInPython(cases) {
  const lines = cases.map(({ options: { file, receipt, ...others } }) => [
    file,
    receipt,
    '--json',
    ...Object.entries(others).flatMap(([name, it]) => [`--${name}`, it])
  ])
  const docs = join(import.meta.dirname, '../docs')
  const { stdout, stderr, error } = spawnSync('python3', ['-B', '-c', caller, docs], {
    input: JSON.stringify(lines),
    maxBuffer: 2 ** 26
  })
  if (error) throw error
  if (stderr.length > 0) throw new Error(stderr.toString())
  return JSON.parse(stdout).map(([status, out]) =>
    status === 64 ? { status, verdict: 'unusable' } : comparable(status, JSON.parse(out))
  )
}

// what the page says of the answer, without what it leaves to each program
function comparable(
  status,
  { verdict, reason, steps, facts, record, short_key, fields, unknown_fields }
) {
  const { parse, leaf, open, match, inclusion, signature, issuer } = steps
  return {
    status,
    verdict,
    reason,
    steps: { parse, leaf, open, match, inclusion, signature, issuer },
    facts: {
      match: facts.match,
      original_declared: facts.original_declared,
      issuer: facts.issuer
    },
    record,
    short_key,
    fields,
    unknown_fields: unknown_fields.sort()
  }
}
