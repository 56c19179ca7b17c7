import { toHex } from '../bytes.ts'
import { ed25519Type, parseVerifierKey, type VerifierKey } from './signed-notes.ts'

/** Whom a reader trusts (C2SP tlog-policy). */
export interface LogPolicy {
  /** Keys of logs. Those of other kinds than Ed25519 are left out. */
  logs: VerifierKey[]
  /** Name of the witness or the group of witnesses that is needed, or `none`. */
  quorum: string
}

interface PolicyInReading {
  witnesses: Set<string>
  names: Set<string>
  quorum?: string
  logs: VerifierKey[]
  logKeys: Set<string>
}

const none = 'none'

/** Throws if the text is not a policy. */
export function parseLogPolicy(text: string): LogPolicy {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: policies must not contain them
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(text)) throw new Error('policy: a character is not allowed')
  const policy: PolicyInReading = {
    witnesses: new Set(),
    names: new Set([none]),
    logs: [],
    logKeys: new Set()
  }
  for (const line of text.split('\n')) {
    const [keyword = '', ...items] = line.split(/[ \t]/).filter(item => item !== '')
    if (keyword === '' || keyword.startsWith('#')) continue
    const read = readers.get(keyword)
    if (!read) throw new Error('policy: a line begins with an unknown word')
    read(policy, items)
  }
  const { logs, quorum } = policy
  if (quorum === undefined) throw new Error('policy: no quorum')
  return { logs, quorum }
}

function readLog({ logs, logKeys }: PolicyInReading, [text = '', , ...others]: string[]): void {
  const key = parseVerifierKey(text)
  addOnce(logKeys, toHex(key.publicKey), others)
  if (key.type === ed25519Type) logs.push(key)
}

function readWitness(policy: PolicyInReading, [name = '', text = '', , ...others]: string[]): void {
  addOnce(policy.witnesses, toHex(parseVerifierKey(text).publicKey), others)
  addOnce(policy.names, name)
}

function readGroup(
  { names }: PolicyInReading,
  [name = '', least = '', ...members]: string[]
): void {
  const isAmount = least === 'any' || least === 'all' || /^[1-9][0-9]{0,8}$/.test(least)
  if (!isAmount || Number(least) > members.length || members.length === 0)
    throw new Error('policy: a group says how many of its members it needs')
  if (new Set(members).size !== members.length || members.some(each => !isDefined(names, each)))
    throw new Error('policy: a group has members that are defined above, each once')
  addOnce(names, name)
}

function readQuorum(policy: PolicyInReading, [name = '', ...others]: string[]): void {
  const isKnown = policy.names.has(name)
  if (!isKnown || others.length > 0 || policy.quorum !== undefined)
    throw new Error('policy: there is one quorum, a name that is defined above')
  policy.quorum = name
}

const readers = new Map([
  ['log', readLog],
  ['witness', readWitness],
  ['group', readGroup],
  ['quorum', readQuorum]
])

function isDefined(names: Set<string>, name: string): boolean {
  return name !== none && names.has(name)
}

function addOnce(known: Set<string>, each: string, others: string[] = []): void {
  if (each === '' || known.has(each) || others.length > 0)
    throw new Error('policy: a line is incomplete, too long or a duplicate')
  known.add(each)
}
