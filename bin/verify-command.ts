import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { fromUtf8 } from '../src/core/bytes.ts'
import { formatDigest } from '../src/core/evidence/formats.ts'
import { type LogPolicy, parseLogPolicy } from '../src/core/evidence/log-policy.ts'
import { ed25519Type, parseVerifierKey, shortKeyOf } from '../src/core/evidence/signed-notes.ts'
import {
  type Verification,
  type VerificationStep,
  verificationSteps,
  verify
} from '../src/core/evidence/verification.ts'

/** When the command line or a file that it names cannot be used. */
export class UnusableInput extends Error {}

export interface VerifyAnswer {
  status: number
  text: string
  facts: Record<string, unknown>
}

type Options = Record<string, string | undefined>

// one byte more than a receipt may have, so that a longer one is refused
const receiptBytes = 256 * 1024 + 1

/** Verifies a file by its receipt. Needs no server, database or settings. */
export async function verifyFile({ file, receipt, key, policy }: Options): Promise<VerifyAnswer> {
  if (file === undefined || receipt === undefined)
    throw new UnusableInput('verify needs a file and its receipt.')
  if (key !== undefined && policy !== undefined)
    throw new UnusableInput('Give --key or --policy, not both.')
  const policies = await readPolicies(key, policy)
  const input = {
    receipt: await readable(receipt, () => readBeginning(receipt)),
    digest: await readable(file, () => digestOf(file))
  }
  const verification = verify(input, { policies }, new Date())
  return {
    status: statuses[verification.outcome.verdict],
    text: describe(verification, policies.length > 0),
    facts: factsOf(verification)
  }
}

// evidence is unwitnessed and its status unchecked, so that `authentic` is 11 and never 0
const statuses: Record<Verification['outcome']['verdict'], number> = {
  authentic: 11,
  matches: 13,
  expired: 20,
  differs: 40,
  log_broken: 50,
  receipt_broken: 51,
  indeterminate: 60
}

async function readPolicies(key?: string, policy?: string): Promise<LogPolicy[]> {
  if (key !== undefined) {
    const parsed = usable(`--key ${key}`, () => parseVerifierKey(key))
    if (parsed.type !== ed25519Type) throw new UnusableInput(`--key ${key}: not the key of a log.`)
    return [{ logs: [parsed], quorum: 'none' }]
  }
  if (policy === undefined) return []
  const bytes = await readable(policy, () => readFile(policy))
  const parsed = usable(policy, () => parseLogPolicy(fromUtf8(bytes)))
  if (parsed.quorum !== 'none')
    throw new UnusableInput(
      `${policy}: witnesses cannot be checked yet, so the quorum must be none.`
    )
  return [parsed]
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return formatDigest(hash.digest())
}

async function readBeginning(path: string): Promise<Uint8Array> {
  await using handle = await open(path)
  const buffer = Buffer.alloc(receiptBytes)
  let length = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, receiptBytes - length)
    length += bytesRead
    if (bytesRead === 0) return buffer.subarray(0, length)
  }
}

async function readable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    throw new UnusableInput(`${path} cannot be read: ${messageOf(cause)}.`, { cause })
  }
}

function usable<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    throw new UnusableInput(`${name}: ${messageOf(cause)}.`, { cause })
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

function factsOf({ outcome, steps, facts, record, fields, unknownFields }: Verification) {
  const { origin, id, index, size, key } = record ?? {}
  return {
    ...outcome,
    steps,
    facts,
    ...(key && {
      record: { origin, id, index: `${index}`, size: `${size}`, key: key.text },
      short_key: shortKeyOf(key)
    }),
    fields: Object.fromEntries(fields),
    unknown_fields: unknownFields
  }
}

function describe(verification: Verification, hasKeys: boolean): string {
  const { steps, outcome } = verification
  const marks = { passed: 'yes', failed: 'NO', unknown: '-' }
  const isHeld = ['authentic', 'matches', 'expired'].includes(outcome.verdict)
  return [
    sentenceOf(verification),
    '',
    ...verificationSteps.map(step => `  ${marks[steps[step]].padEnd(5)}${questions[step]}`),
    ...(isHeld ? ['', ...remarksOf(verification, hasKeys)] : [])
  ].join('\n')
}

const questions: Record<VerificationStep, string> = {
  parse: 'Is the receipt whole?',
  leaf: 'Does it contain an entry of a log?',
  open: 'Does what it discloses belong to this entry?',
  match: 'Is the file the one of this entry?',
  inclusion: 'Is the entry in the log?',
  signature: 'Did the log sign that?',
  issuer: 'Is the key of the log one that you gave?',
  anchor: 'Is the log itself in a log of others?',
  witnesses: 'Have witnesses seen it?',
  time: 'Does somebody else confirm the time?',
  status: 'Is the record still current?'
}

function sentenceOf({ outcome, facts, record, fields }: Verification): string {
  const origin = record?.origin ?? 'the log'
  const { time } = facts
  const when = time === 'not_disclosed' ? '' : ` on ${formatTime(time.claimed)}, by its own clock`
  switch (outcome.verdict) {
    case 'authentic':
      return facts.match === 'stored_copy'
        ? `Unchanged copy: this is the reduced copy that ${origin} kept of a file recorded${when}; the original had more detail.`
        : `Unchanged: ${origin} recorded this exact file${when}; not one byte has changed since.`
    case 'matches': {
      const key = record ? shortKeyOf(record.key) : ''
      const host = origin.split('/', 1).join('')
      return `Matches its receipt: compare the key ${key} with the one that ${host} publishes.`
    }
    case 'differs':
      return 'Different: this is not the file in the receipt. It was changed, or it is another file.'
    case 'expired': {
      const end = formatTime(fields.get('expires') ?? '')
      return facts.issuer === 'pinned'
        ? `Expired: ${origin} recorded this exact file, but it expired on ${end}.`
        : `Expired: this receipt names ${origin}, and its record expired on ${end}. Nobody whose key you gave has signed it.`
    }
    case 'receipt_broken':
      return `Broken proof: do not rely on this receipt. It was altered or did not come from the log that it names (${outcome.reason}).`
    case 'log_broken':
      return 'Contradiction: do not rely on this. The log has signed two different states of the same size.'
    case 'indeterminate':
      return `No answer yet: ${unclear[outcome.reason]}`
  }
}

const unclear = {
  unknown_version: 'this receipt comes from a newer version.',
  fields_hidden: 'the holder left out what is needed.',
  no_file: 'there is no file to compare.'
}

function remarksOf({ record, facts }: Verification, hasKeys: boolean): string[] {
  if (!record) return []
  const { origin, key } = record
  return [
    `Proves that ${facts.issuer === 'pinned' ? origin : 'the owner of the key below'} recorded these exact bytes. Does not prove that what the document says is true, or who wrote it.`,
    ...(facts.original_declared
      ? [
          'Nothing in the receipt shows that the log had these bytes: the depositor’s browser computed their fingerprint.'
        ]
      : []),
    ...(hasKeys && facts.issuer === 'unknown' ? ['No key that you gave has signed this.'] : []),
    '0 witnesses. Not checked: whether the record was withdrawn, replaced or erased since.',
    `Key ${shortKeyOf(key)}: ${key.text}`
  ]
}

/** `2026-11-20T09:28:15Z` → `2026-11-20 at 09:28:15 UTC` */
function formatTime(time: string): string {
  return `${time.slice(0, 10)} at ${time.slice(11, 19)} UTC`
}
